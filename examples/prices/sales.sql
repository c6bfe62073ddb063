-- A price list in Excel that people correct while this runs, and sales in CSV files that come: what each product
-- has brought, always by the prices as the sheet has them now.
--
--   pip install 'dbsp[excel]'
--   dbsp run sales.sql --every 2s
--
-- Open prices.xlsx, change a price, save. The sheet is read whole and compared, so only what it changed is computed.
CREATE TABLE price (product STRING, cents BIGINT, valid_from DATE, PRIMARY KEY (product))
USING excel OPTIONS (path 'prices.xlsx', sheet 'Prices')
WITH (snapshot = 'every step');

CREATE TABLE sale (id BIGINT NOT NULL, product STRING, amount INT)
USING csv OPTIONS (path 'sales', header 'true')
WITH (append_only = true);

CREATE VIEW turnover AS
SELECT s.product, count(*) AS sales, sum(s.amount * p.cents) AS cents
FROM sale s LEFT JOIN price p ON s.product = p.product
GROUP BY s.product;
