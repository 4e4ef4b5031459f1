package store

import (
	"context"
	"database/sql"
	"embed"
	"errors"
	"fmt"
	"io/fs"
	"regexp"
	"strconv"
	"strings"
)

//go:embed migrations/*.sql
var migrations embed.FS

// The application id in the header of the file (offset 68) marks it as ours.
const (
	applicationID     = 0x52746b31 // "Rtk1"
	beforeFirstSchema = 0x5274616b // "Rtak": the schemas before the first release
)

// ErrNewerSchema means that a newer version wrote the file, ErrOlderSchema that a
// version did whose schema cannot be migrated.
var (
	ErrNewerSchema = errors.New("the database was written by a newer version")
	ErrOlderSchema = errors.New("the database was written by a version before the first release")
)

var errForeign = errors.New("the file is a database of another program")

type migration struct {
	version int
	name    string
	sql     string
}

// allMigrations returns the embedded files NNN_name.sql in order.
func allMigrations() ([]migration, error) {
	names, err := fs.Glob(migrations, "migrations/*.sql")
	if err != nil {
		return nil, err
	}
	var all []migration
	for i, name := range names {
		text, err := fs.ReadFile(migrations, name)
		if err != nil {
			return nil, err
		}
		base := strings.TrimPrefix(name, "migrations/")
		number, _, _ := strings.Cut(base, "_")
		version, err := strconv.Atoi(number)
		if err != nil || version != i+1 {
			return nil, fmt.Errorf("read migration %s: want number %d", base, i+1)
		}
		all = append(all, migration{version: version, name: base, sql: string(text)})
	}
	return all, nil
}

// migrate brings the schema up to the newest of all, each step in its own
// transaction. Two processes may do it at once.
func migrate(ctx context.Context, conn *sql.Conn, all []migration) error {
	for {
		version, err := schemaVersion(ctx, conn)
		if err != nil {
			return err
		}
		if version > len(all) {
			return fmt.Errorf("%w (schema %d, this one knows %d)", ErrNewerSchema, version, len(all))
		}
		if version == len(all) {
			return nil
		}
		if err := step(ctx, conn, all[version]); err != nil {
			return fmt.Errorf("migrate to %s: %w", all[version].name, err)
		}
	}
}

func step(ctx context.Context, conn *sql.Conn, m migration) error {
	if err := begin(ctx, conn); err != nil {
		return err
	}
	err := func() error {
		// Another process may have done it.
		version, err := schemaVersion(ctx, conn)
		if err != nil || version != m.version-1 {
			return err
		}
		if _, err := conn.ExecContext(ctx, condensed(m.sql)); err != nil {
			return err
		}
		_, err = conn.ExecContext(ctx, fmt.Sprintf("PRAGMA user_version = %d; PRAGMA application_id = %d", m.version, applicationID))
		return err
	}()
	if err != nil {
		return errors.Join(err, rollback(conn))
	}
	return commit(conn)
}

var (
	sqlComment = regexp.MustCompile(`--[^\n]*`)
	sqlSpace   = regexp.MustCompile(`\s+`)
)

// condensed leaves out comments and white space: SQLite stores the text of a schema
// in the file, and reads it whenever a connection is opened.
func condensed(sql string) string {
	return sqlSpace.ReplaceAllString(sqlComment.ReplaceAllString(sql, ""), " ")
}

// schemaVersion returns the version of the schema, 0 for a new file.
func schemaVersion(ctx context.Context, conn *sql.Conn) (int, error) {
	var version, application, tables int
	err := retryBusy(ctx, func() error {
		return conn.QueryRowContext(ctx, `SELECT v.user_version, a.application_id, (SELECT count(*) FROM sqlite_schema)
			FROM pragma_user_version v, pragma_application_id a`).Scan(&version, &application, &tables)
	})
	if err != nil {
		return 0, fmt.Errorf("read schema: %w", err)
	}
	if application == beforeFirstSchema {
		return 0, ErrOlderSchema
	}
	if application != applicationID && (application != 0 || version != 0 || tables != 0) {
		return 0, errForeign
	}
	return version, nil
}

func begin(ctx context.Context, conn *sql.Conn) error {
	err := retryBusy(ctx, func() error {
		_, err := conn.ExecContext(context.Background(), "BEGIN IMMEDIATE")
		return err
	})
	if err != nil {
		return fmt.Errorf("begin transaction: %w", err)
	}
	return nil
}

func commit(conn *sql.Conn) error {
	if _, err := conn.ExecContext(context.Background(), "COMMIT"); err != nil {
		return errors.Join(fmt.Errorf("commit transaction: %w", err), rollback(conn))
	}
	return nil
}

// rollback ends the transaction. SQLite may have ended it already, for example on
// a full disk.
func rollback(conn *sql.Conn) error {
	_, err := conn.ExecContext(context.Background(), "ROLLBACK")
	if err != nil && strings.Contains(err.Error(), "no transaction is active") {
		return nil
	}
	if err != nil {
		return fmt.Errorf("roll back: %w", err)
	}
	return nil
}
