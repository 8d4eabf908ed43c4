-- Version 8: feedback has reasons and words, and is sent on. data: JSON, a FeedbackRecord; due: when it is to be
-- sent; NULL: it is not.

ALTER TABLE feedback ADD COLUMN data TEXT NOT NULL DEFAULT '';
ALTER TABLE feedback ADD COLUMN due REAL;
UPDATE feedback SET data = json_object('turn', turn, 'user', user, 'value', value, 'at', at);
CREATE INDEX feedback_by_due ON feedback (due) WHERE due IS NOT NULL;
