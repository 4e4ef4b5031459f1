package store

import (
	"cmp"
	"context"
	"database/sql"
	"fmt"
	"slices"
	"strings"

	"github.com/google/uuid"

	"github.com/retake-debugger/retake/transcript"
)

const selectAgent = "SELECT id, run, client_key, main, call_exchange, call_at, evidence FROM agent "

// Agent returns the agent with that id.
func (r *reader) Agent(ctx context.Context, id string) (*transcript.Agent, error) {
	return r.agent(ctx, id, "WHERE id = ?", packID(id))
}

// Agents lists the agents of a run, oldest first.
func (r *reader) Agents(ctx context.Context, run string) ([]transcript.Agent, error) {
	return r.agents(ctx, "WHERE run = ? ORDER BY n", packID(run))
}

func (r *reader) agent(ctx context.Context, what, where string, args ...any) (*transcript.Agent, error) {
	list, err := r.agents(ctx, where, args...)
	if err != nil {
		return nil, err
	}
	if len(list) == 0 {
		return nil, fmt.Errorf("agent %s: %w", what, transcript.ErrNotFound)
	}
	return &list[0], nil
}

func (r *reader) agents(ctx context.Context, where string, args ...any) ([]transcript.Agent, error) {
	var list []transcript.Agent
	err := r.st.rows(ctx, selectAgent+where, args, func(row *sql.Rows) error {
		var a transcript.Agent
		var id, run, exchange any
		var key, at *string
		if err := row.Scan(&id, &run, &key, &a.Main, &exchange, &at, &a.Evidence); err != nil {
			return err
		}
		a.ID, a.Run = unpackID(id), unpackID(run)
		if key != nil {
			a.Key = *key
		}
		if at != nil {
			a.ParentCall = &transcript.Place{Exchange: unpackID(exchange), Body: "response", At: *at}
		}
		list = append(list, a)
		return nil
	})
	if err != nil {
		return nil, fmt.Errorf("read agents: %w", err)
	}
	return list, nil
}

// AgentByKey returns the agent of a run that a client calls by that name.
func (p *past) AgentByKey(run, key string) (*transcript.Agent, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.agent(context.Background(), key, "WHERE run = ? AND client_key = ?", packID(run), key)
}

// PutAgent stores a new agent.
func (t *tx) PutAgent(a *transcript.Agent) error {
	if err := t.open(); err != nil {
		return err
	}
	if a.ID == "" {
		id, err := uuid.NewV7()
		if err != nil {
			return fmt.Errorf("make agent id: %w", err)
		}
		a.ID = id.String()
	}
	var exchange, at any
	if a.ParentCall != nil {
		exchange, at = packID(a.ParentCall.Exchange), a.ParentCall.At
	}
	_, err := t.st.exec("INSERT INTO agent (id, run, client_key, main, call_exchange, call_at, evidence) VALUES (?, ?, ?, ?, ?, ?, ?)",
		packID(a.ID), packID(a.Run), packText(a.Key), a.Main, exchange, at, a.Evidence)
	if err != nil {
		return fmt.Errorf("store agent: %w", err)
	}
	return nil
}

// SetParentCall reports which call started a stored agent.
func (t *tx) SetParentCall(agent string, call transcript.Place) error {
	if err := t.open(); err != nil {
		return err
	}
	if _, err := t.st.exec("UPDATE agent SET call_exchange = ?, call_at = ? WHERE id = ?", packID(call.Exchange), call.At, packID(agent)); err != nil {
		return fmt.Errorf("store call of agent: %w", err)
	}
	return nil
}

// RunByKey returns the run that a client's own name belongs to.
func (p *past) RunByKey(key string) (*transcript.Run, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.run(context.Background(), key, selectRun+"WHERE id = (SELECT run FROM run_key WHERE client_key = ?)", key)
}

// BindRun makes a client's own name mean that run, unless it means one.
func (t *tx) BindRun(key, run string) error {
	if err := t.open(); err != nil {
		return err
	}
	if _, err := t.st.exec(`INSERT INTO run_key (client_key, run) VALUES (?, ?)
		ON CONFLICT (client_key) DO UPDATE SET run = excluded.run WHERE NOT EXISTS (SELECT 1 FROM run WHERE id = run_key.run)`, key, packID(run)); err != nil {
		return fmt.Errorf("store name of run: %w", err)
	}
	return nil
}

// SetSide makes a stored exchange a side call.
func (t *tx) SetSide(exchange string) error {
	if err := t.open(); err != nil {
		return err
	}
	t.w.last.forget()
	if _, err := t.st.exec("UPDATE exchange SET side = 1, agent = NULL, step = 0, attempt = 0 WHERE id = ?", packID(exchange)); err != nil {
		return fmt.Errorf("store side call: %w", err)
	}
	return nil
}

// PutHint notes by what an exchange may be found.
func (t *tx) PutHint(value transcript.Key, exchange, at string) error {
	if err := t.open(); err != nil {
		return err
	}
	var err error
	if n, ok := t.stored[exchange]; ok {
		err = t.st.run("INSERT OR IGNORE INTO hint (value, n, at) VALUES (?, ?, ?)", value[:], n, at)
	} else {
		_, err = t.st.exec("INSERT OR IGNORE INTO hint (value, n, at) SELECT ?, n, ? FROM exchange WHERE id = ?", value[:], at, packID(exchange))
	}
	if err != nil {
		return fmt.Errorf("store hint: %w", err)
	}
	return nil
}

// Hints lists the hints of an exchange.
func (r *reader) Hints(ctx context.Context, exchange string) ([]transcript.Hint, error) {
	var list []transcript.Hint
	err := r.st.rows(ctx, "SELECT value, at FROM hint WHERE n = (SELECT n FROM exchange WHERE id = ?)", []any{packID(exchange)}, func(row *sql.Rows) error {
		var c transcript.Hint
		var value []byte
		err := row.Scan(&value, &c.At)
		copy(c.Value[:], value)
		list = append(list, c)
		return err
	})
	if err != nil {
		return nil, fmt.Errorf("read hints of exchange: %w", err)
	}
	return list, nil
}

// ByHint returns the exchanges that were noted with that hint, newest first.
func (p *past) ByHint(value transcript.Key, limit int) ([]transcript.Place, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	// In any order at first, since this is asked for each new conversation: to
	// sort costs more than to look, and most lead to few or none.
	const query = "SELECT e.id, p.n, p.at FROM hint p JOIN exchange e ON e.n = p.n WHERE p.value = ? AND p.n < ?"
	found, err := p.hints(query+" LIMIT ?", value[:], p.before, limit+1)
	if err == nil && len(found) > limit {
		found, err = p.hints(query+" ORDER BY p.n DESC, p.at DESC LIMIT ?", value[:], p.before, limit)
	}
	if err != nil {
		return nil, fmt.Errorf("read hints: %w", err)
	}
	slices.SortFunc(found, func(a, b hint) int { return cmp.Or(cmp.Compare(b.n, a.n), cmp.Compare(a.at, b.at)) })
	var places []transcript.Place
	for _, c := range found {
		places = append(places, transcript.Place{Exchange: unpackID(c.id), Body: "response", At: c.at})
	}
	return places, nil
}

// hint is a row by which an exchange is found.
type hint struct {
	id any
	n  int64
	at string
}

func (p *past) hints(query string, args ...any) (found []hint, err error) {
	err = p.st.rows(context.Background(), query, args, func(row *sql.Rows) error {
		var c hint
		err := row.Scan(&c.id, &c.n, &c.at)
		found = append(found, c)
		return err
	})
	return found, err
}

// anyHints is for how many hints one statement looks.
const anyHints = 8

// selectAnyHint looks for 1, 2 … hints.
var selectAnyHint = func() (all [anyHints]string) {
	for i := range all {
		var list []string
		for j := range i + 1 {
			list = append(list, fmt.Sprintf("SELECT 1 FROM hint WHERE value = ?%d AND n < ?%d", j+1, i+2))
		}
		all[i] = strings.Join(list, " UNION ALL ") + " LIMIT 1"
	}
	return all
}()

// AnyByHint reports whether any exchange was noted with one of the hints.
func (p *past) AnyByHint(values []transcript.Key) (bool, error) {
	if err := p.check(); err != nil {
		return false, err
	}
	for some := range slices.Chunk(values, anyHints) {
		args := make([]any, 0, anyHints+1)
		for i := range some {
			args = append(args, some[i][:])
		}
		if any, err := p.exists(selectAnyHint[len(some)-1], append(args, p.before)...); any || err != nil {
			return any, err
		}
	}
	return false, nil
}

// LastStep returns the last exchange of an agent.
func (p *past) LastStep(agent string) (*transcript.Exchange, error) {
	if err := p.check(); err != nil {
		return nil, err
	}
	return p.one(context.Background(), "of agent "+agent, selectListed+"WHERE e.agent = ? AND e.n < ? ORDER BY e.n DESC LIMIT 1", packID(agent), p.before)
}

// Firsts returns the exchanges of a run that continue nothing, newest first.
func (p *past) Firsts(run string, limit int) ([]*transcript.Exchange, error) {
	if err := p.check(); err != nil || run == "" {
		return nil, err
	}
	return p.exchanges(context.Background(), selectListed+"WHERE e.run = ? AND e.parent IS NULL AND e.n < ? ORDER BY e.n DESC LIMIT ?", packID(run), p.before, limit)
}
