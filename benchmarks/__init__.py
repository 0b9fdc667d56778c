"""Speed, as ratios against a named reference in the same run. `make bench` prints them."""
