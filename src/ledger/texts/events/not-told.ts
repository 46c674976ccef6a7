// Where telling begins in a ledger of an earlier version, as part of a migration of every engine: it is never edited.

export const NOT_TOLD = `
  -- What an earlier version recorded is not told. A new ledger gets no rows, so that another can be copied into it.
  INSERT INTO event_position (name, last) SELECT 'act', max(id) FROM act HAVING count(*) > 0;
  INSERT INTO event_position (name, last) SELECT 'recorded', max(id) FROM recorded HAVING count(*) > 0;
  INSERT INTO told_up_to (reader, move, event) SELECT 'queues', max(id), 0 FROM move HAVING count(*) > 0;
  INSERT INTO told_batch (batch_id, version, late_answers, state)
    SELECT id, version, late_answers, CASE WHEN EXISTS (
      SELECT 1 FROM tally t WHERE t.batch_id = batch.id AND t.state IN ('READY', 'SENDING') AND t.count > 0) THEN 'started' ELSE 'finished' END
    FROM batch WHERE stage = 'open';
`
