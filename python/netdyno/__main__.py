"""`python -m netdyno`."""

from netdyno.cli import main

if __name__ == "__main__":
    main()
