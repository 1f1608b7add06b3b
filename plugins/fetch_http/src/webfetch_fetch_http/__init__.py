"""Plain HTTP as a webfetch fetcher."""
