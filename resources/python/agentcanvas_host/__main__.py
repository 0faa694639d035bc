"""`python -m agentcanvas_host`."""

from .command_line import main

if __name__ == "__main__":
    main()
