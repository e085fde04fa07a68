"""`python -m netdyno`."""

from netdyno.cli.app import main

if __name__ == "__main__":
    main()
