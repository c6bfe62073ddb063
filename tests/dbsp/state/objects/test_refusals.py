"""What stores say, in one line without keys. The texts are what object_store makes of their answers."""

from __future__ import annotations

import pytest
from obstore.exceptions import GenericError, PermissionDeniedError, PreconditionError

from dbsp.state.objects.refusals import Changed, Refused, Unanswered, hdfs_refusal, refusal

HTTP = "Error performing PUT http://host/b/x in 67ms - Server returned non-2xx status code: "


@pytest.mark.parametrize(
    ("error", "kind", "said"),
    [
        (
            FileNotFoundError(HTTP + "404 Not Found: <Error><Code>NoSuchKey</Code>"),
            FileNotFoundError,
            "No such file",
        ),
        (
            FileNotFoundError(
                HTTP + "404 Not Found: <Error><Code>NoSuchBucket</Code><BucketName>b</BucketName>"
            ),
            Refused,
            "there is no bucket s3://b; make it, or name another one",
        ),
        (
            PermissionDeniedError(
                HTTP + "403 Forbidden: <Error><Code>InvalidAccessKeyId</Code><Message>The key does not exist."
                "</Message><AWSAccessKeyId>AKIA123</AWSAccessKeyId></Error>"
            ),
            Refused,
            "denied (InvalidAccessKeyId: The key does not exist); give these credentials the right",
        ),
        (
            PreconditionError(HTTP + "412 Precondition Failed: <Code>PreconditionFailed</Code>"),
            Changed,
            "another",
        ),
        (
            GenericError(HTTP + "400 Bad Request: <Code>InvalidArgument</Code>"),
            Refused,
            "refused (status 400)",
        ),
        (
            GenericError(HTTP + "503 Slow Down: <Code>SlowDown</Code>"),
            Unanswered,
            "(status 503) (SlowDown); try",
        ),
        (
            GenericError(HTTP + "409 Conflict: <Code>ConditionalRequestConflict</Code>"),
            Unanswered,
            "status 409",
        ),
        (
            GenericError("Error performing PUT http://169.254.169.254/latest/api/token in 3s"),
            Refused,
            "no credentials for s3://b: set them in the environment",
        ),
        (
            GenericError(
                "Generic S3 error: HTTP error: error sending request: Connection refused\n\nDebug source: x"
            ),
            Unanswered,
            "the store can't be reached (Connection refused)",
        ),
    ],
)
def test_one_line_of_it(error: Exception, kind: type[OSError], said: str) -> None:
    found = refusal(error, "s3://b", "x")
    assert type(found) is kind
    assert said in str(found)
    assert "\n" not in str(found)
    assert "AKIA" not in str(found)


@pytest.mark.parametrize(
    ("exception", "text", "kind", "said"),
    [
        (
            "FileNotFoundException",
            "File /x not found.",
            FileNotFoundError,
            "No such file",
        ),
        (
            "FileAlreadyExistsException",
            "/x exists\n\tat org.apache",
            Changed,
            "another writer has written it",
        ),
        (
            "AccessControlException",
            "Permission denied: user=a\n\tat org",
            Refused,
            "denied (Permission denied:",
        ),
        ("DSQuotaExceededException", "The quota is exceeded", Refused, "full (The quota is exceeded)"),
        (None, "Authentication failure. Check your credentials.", Refused, "Kerberos is not supported"),
        (
            "SafeModeException",
            "Name node is in safe mode.",
            Unanswered,
            "fails (SafeModeException: Name",
        ),
        (None, "<html>", Unanswered, "the cluster fails (<html>); try again later"),
        (
            "",
            "Max retries: Connection refused",
            Unanswered,
            "reached (Connection refused); is DBSP_",
        ),
        ("", "", Unanswered, "can't be reached (no reason given)"),
    ],
)
def test_one_line_of_what_hdfs_says(exception: str | None, text: str, kind: type[OSError], said: str) -> None:
    found = hdfs_refusal(exception, text, "hdfs://b", "x")
    assert type(found) is kind
    assert said in str(found)
    assert "\n" not in str(found)
