"""What blocks of a batch's rows come to, made when it is first asked for, and kept with the batch."""
