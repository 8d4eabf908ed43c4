import pytest

pytest.register_assert_rewrite("tests.store.contract", "tests.store.recorded")
