// What the server keeps by functions, part of the migrations: keys over all partitions and the ends of claims by triggers, new partitions.

export const FUNCTIONS = `
  CREATE FUNCTION end_claim() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM claim WHERE row_id = OLD.id;
    RETURN NULL;
  END $$;

  -- A row of a draft whose reference is taken is left out, which its submit notices. Any other is refused by the key.
  CREATE FUNCTION take_reference() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    INSERT INTO held_reference VALUES (NEW.account_id, NEW.reference, NEW.id) ON CONFLICT DO NOTHING;
    IF FOUND THEN RETURN NEW; END IF;
    IF TG_OP = 'INSERT' AND EXISTS (SELECT 1 FROM batch WHERE id = NEW.batch_id AND stage = 'draft') THEN RETURN NULL; END IF;
    RAISE unique_violation USING MESSAGE = 'the reference is held by another row';
  END $$;
  CREATE FUNCTION leave_reference() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM held_reference WHERE account_id = OLD.account_id AND reference = OLD.reference AND row_id = OLD.id;
    RETURN NULL;
  END $$;
  CREATE TRIGGER takes BEFORE INSERT ON instruction FOR EACH ROW WHEN (NEW.holds_reference = 1) EXECUTE FUNCTION take_reference();
  CREATE TRIGGER takes_over BEFORE UPDATE OF holds_reference ON instruction FOR EACH ROW
    WHEN (NEW.holds_reference = 1 AND OLD.holds_reference = 0) EXECUTE FUNCTION take_reference();
  CREATE TRIGGER leaves AFTER UPDATE OF holds_reference ON instruction FOR EACH ROW
    WHEN (NEW.holds_reference = 0 AND OLD.holds_reference = 1) EXECUTE FUNCTION leave_reference();
  CREATE TRIGGER goes AFTER DELETE ON instruction FOR EACH ROW WHEN (OLD.holds_reference = 1) EXECUTE FUNCTION leave_reference();

  CREATE FUNCTION note_transaction() RETURNS trigger LANGUAGE plpgsql AS $$
  BEGIN
    DELETE FROM seen_transaction WHERE account_id = OLD.account_id AND transaction_id = ltrim(OLD.transaction_id, '0') AND row_id = OLD.id;
    IF NEW.transaction_id IS NOT NULL THEN
      INSERT INTO seen_transaction VALUES (NEW.account_id, ltrim(NEW.transaction_id, '0'), NEW.id);
    END IF;
    RETURN NULL;
  END $$;
  CREATE TRIGGER settles AFTER UPDATE OF transaction_id ON instruction FOR EACH ROW
    WHEN (NEW.transaction_id IS DISTINCT FROM OLD.transaction_id) EXECUTE FUNCTION note_transaction();

  CREATE TRIGGER ends AFTER UPDATE OF state ON instruction FOR EACH ROW
    WHEN (OLD.state = 'SENDING' AND NEW.state <> 'SENDING') EXECUTE FUNCTION end_claim();

  -- A list in JSON, as SQLite reads it.
  CREATE FUNCTION json_each(list TEXT, OUT key BIGINT, OUT value TEXT) RETURNS SETOF record LANGUAGE sql IMMUTABLE AS $$
    SELECT ordinality - 1, element COLLATE "C" FROM json_array_elements_text(list::json) WITH ORDINALITY AS e (element, ordinality)
  $$;

  -- Whether the partition that the newest id falls into or the one after it is missing. What falls into none would be refused.
  CREATE FUNCTION lacks_partitions(size BIGINT) RETURNS boolean LANGUAGE sql AS $$
    SELECT bool_or(to_regclass(format('%I', p.parent || '_' || p.newest / size + one)) IS NULL)
    FROM (SELECT 'instruction' AS parent, last_value AS newest FROM instruction_id UNION ALL SELECT 'move', last_value FROM move_id) AS p,
      generate_series(0, 1) AS one
  $$;

  -- A table is made by itself and attached then: a table that is made as a partition would wait for every reading, and keep all others waiting.
  CREATE FUNCTION make_partitions(size BIGINT) RETURNS void LANGUAGE plpgsql AS $$
  DECLARE
    parent TEXT;
    newest BIGINT;
    part BIGINT;
    name TEXT;
  BEGIN
    FOREACH parent IN ARRAY ARRAY['instruction', 'move'] LOOP
      EXECUTE format('SELECT last_value FROM %I', parent || '_id') INTO newest;
      FOR part IN newest / size .. newest / size + 1 LOOP
        name := parent || '_' || part;
        IF to_regclass(format('%I', name)) IS NULL THEN
          EXECUTE format('CREATE TABLE %I (LIKE %I INCLUDING ALL, CHECK (id >= %s AND id < %s))', name, parent, part * size, (part + 1) * size);
          EXECUTE format('ALTER TABLE %I ATTACH PARTITION %I FOR VALUES FROM (%s) TO (%s)', parent, name, part * size, (part + 1) * size);
        END IF;
      END LOOP;
    END LOOP;
  END $$;
`

/** Triggers are replaced, not dropped: to drop one waits for every reader, and keeps all others waiting meanwhile. */
export const GROUPS_KEEP_KEYS = `
  CREATE FUNCTION keeps_keys() RETURNS boolean LANGUAGE sql STABLE AS $$ SELECT coalesce(current_setting('tranche.keeps_keys', true), '') = 'on' $$;

  CREATE OR REPLACE TRIGGER settles AFTER UPDATE OF transaction_id ON instruction FOR EACH ROW
    WHEN (NEW.transaction_id IS DISTINCT FROM OLD.transaction_id AND NOT keeps_keys()) EXECUTE FUNCTION note_transaction();

  CREATE OR REPLACE TRIGGER ends AFTER UPDATE OF state ON instruction FOR EACH ROW
    WHEN (OLD.state = 'SENDING' AND NEW.state <> 'SENDING' AND NOT keeps_keys()) EXECUTE FUNCTION end_claim();
`
