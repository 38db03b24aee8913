// Package journal is the room for the hash-chained record of what people
// decided: gates opened, refused, voided and sealed, runs started by hand. Each
// record holds the SHA-256 of the line before it, so a flipped byte, a missing
// or a moved line breaks the chain at a place that can be named.
//
// The chain shows tampering, it does not prevent it: a process of the same user
// can write a whole new chain. Only a copy of the last hash held elsewhere, or
// a signature, resists that.
//
// What may not enter: files and locks (probes/store), and the clock.
package journal

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"
	"time"

	"bufio"
)

// Genesis is the Prev of the first record.
const Genesis = "0000000000000000000000000000000000000000000000000000000000000000"

// MaxLine bounds one line, in bytes.
const MaxLine = 1 << 20

// Record is one line of the journal. Field order is the order on disk.
type Record struct {
	// Seq counts from 1.
	Seq int       `json:"seq"`
	At  time.Time `json:"at"`
	// Kind is what happened, for example "gate opened", "gate sealed",
	// "gate refused", "gate voided", "run started", "waiver".
	Kind string `json:"kind"`
	// Gate is "G1" or "G2" where one is concerned, Seal the id of a seal.
	Gate string `json:"gate,omitempty"`
	Seal string `json:"seal,omitempty"`
	// Who is the user and host.
	Who string `json:"who,omitempty"`
	// Text is one line for people; Data holds named values, sorted by name on
	// disk.
	Text string            `json:"text,omitempty"`
	Data map[string]string `json:"data,omitempty"`
	// Prev is the SHA-256, in hex, of the line before (without its newline).
	Prev string `json:"prev"`
	// Self is the SHA-256 of this record's JSON without Self: it makes a flipped
	// byte of the last line visible, which no later line covers.
	Self string `json:"self"`
}

// Tip is the end of a chain: what the next record must hold.
type Tip struct {
	Seq  int
	Hash string
}

// Start is the tip of an empty journal.
func Start() Tip { return Tip{Hash: Genesis} }

// Append gives the line of r after tip, ending in a newline, and the new tip.
// Seq, Prev and Self of r are filled in; times are kept in UTC.
func Append(tip Tip, r Record) ([]byte, Tip, error) {
	if r.Kind == "" {
		return nil, tip, errors.New("journal: a record needs a kind")
	}
	if tip.Hash == "" {
		tip = Start()
	}
	r.Seq, r.Prev, r.At = tip.Seq+1, tip.Hash, r.At.UTC()
	line, err := seal(r)
	if err != nil {
		return nil, tip, err
	}
	if len(line) >= MaxLine {
		return nil, tip, fmt.Errorf("journal: a record of %d bytes, at most %d are kept", len(line), MaxLine)
	}
	return append(line, '\n'), Tip{Seq: r.Seq, Hash: sum(line)}, nil
}

func seal(r Record) ([]byte, error) {
	r.Self = ""
	body, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	r.Self = sum(body)
	line, err := json.Marshal(r)
	if err != nil {
		return nil, fmt.Errorf("journal: %w", err)
	}
	return line, nil
}

func sum(b []byte) string {
	h := sha256.Sum256(b)
	return hex.EncodeToString(h[:])
}

// Broken says where the chain breaks.
type Broken struct {
	// Line is 1-based.
	Line int
	Why  string
}

// Error reads like "line 3: …".
func (b *Broken) Error() string { return fmt.Sprintf("line %d: %s", b.Line, b.Why) }

// Chain is a journal that was read.
type Chain struct {
	// Records are those up to the first break.
	Records []Record
	Tip     Tip
	// Torn is true when the file ends in an unfinished line: a write that was
	// cut off. It is not part of the chain, and Good is where it begins.
	Torn bool
	// Good is the length in bytes of the part that holds.
	Good int64
	// Broken is nil when every finished line holds.
	Broken *Broken
}

// Verify reads a journal and checks every line. The error is the reader's; a
// chain that does not hold is Chain.Broken.
func Verify(r io.Reader) (Chain, error) {
	c := Chain{Tip: Start()}
	in := bufio.NewReaderSize(r, 64<<10)
	for n := 1; ; n++ {
		line, err := readLine(in)
		if err == io.EOF && len(line) == 0 {
			return c, nil
		}
		if err == io.EOF {
			c.Torn = true
			return c, nil
		}
		if errors.Is(err, errLong) {
			c.Broken = &Broken{n, fmt.Sprintf("longer than %d bytes", MaxLine)}
			return c, nil
		}
		if err != nil {
			return c, fmt.Errorf("journal line %d: %w", n, err)
		}
		rec, why := check(c.Tip, line)
		if why != "" {
			c.Broken = &Broken{n, why}
			return c, nil
		}
		c.Records = append(c.Records, rec)
		c.Tip = Tip{Seq: rec.Seq, Hash: sum(line)}
		c.Good += int64(len(line)) + 1
	}
}

var errLong = errors.New("line too long")

// readLine returns a line without its newline; io.EOF with the rest when the
// last line has none.
func readLine(in *bufio.Reader) ([]byte, error) {
	var line []byte
	for {
		part, err := in.ReadSlice('\n')
		line = append(line, part...)
		if len(line) > MaxLine {
			return nil, errLong
		}
		if err == nil {
			return line[:len(line)-1], nil
		}
		if !errors.Is(err, bufio.ErrBufferFull) {
			return line, err
		}
	}
}

// check tells why a line does not follow tip, "" when it does.
func check(tip Tip, line []byte) (Record, string) {
	var r Record
	dec := json.NewDecoder(bytes.NewReader(line))
	dec.DisallowUnknownFields()
	if err := dec.Decode(&r); err != nil {
		return r, "not a journal record: " + strings.ToValidUTF8(err.Error(), "?")
	}
	again, err := seal(r)
	if err != nil || !bytes.Equal(again, line) {
		return r, fmt.Sprintf("the bytes of record %d were changed", r.Seq)
	}
	if r.Seq != tip.Seq+1 {
		return r, fmt.Sprintf("record %d where %d was expected: a line is missing or moved", r.Seq, tip.Seq+1)
	}
	if r.Prev != tip.Hash {
		return r, fmt.Sprintf("record %d does not follow the line before it", r.Seq)
	}
	return r, ""
}
