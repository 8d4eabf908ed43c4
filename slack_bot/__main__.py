"""python -m slack_bot"""

import sys

from .cli import main

sys.exit(main())
