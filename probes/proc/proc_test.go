package proc

import (
	"context"
	"errors"
	"os/exec"
	"testing"
	"time"
)

func TestWait(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	done := make(chan error, 1)
	go func() { done <- Wait(t.Context(), cmd.Process.Pid) }()
	select {
	case err := <-done:
		t.Fatalf("returned while the process lives: %v", err)
	case <-time.After(50 * time.Millisecond):
	}
	_ = cmd.Process.Kill()
	if err := <-done; err != nil {
		t.Fatal(err)
	}
	_ = cmd.Wait()
	if err := Wait(t.Context(), cmd.Process.Pid); err != nil {
		t.Errorf("a process that is gone: %v", err)
	}
}

func TestWaitEndsWithContext(t *testing.T) {
	cmd := exec.Command("sleep", "60")
	if err := cmd.Start(); err != nil {
		t.Skip(err)
	}
	t.Cleanup(func() { _ = cmd.Process.Kill(); _ = cmd.Wait() })
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	if err := Wait(ctx, cmd.Process.Pid); !errors.Is(err, context.DeadlineExceeded) {
		t.Fatalf("got %v", err)
	}
}
