import type { ComponentChildren, JSX } from 'preact';
import { useEffect, useId, useRef } from 'preact/hooks';
import { Icon } from './icons.js';

interface DialogProps {
  readonly title: string;
  readonly onClose: () => void;
  readonly children: ComponentChildren;
  readonly foot?: ComponentChildren;
}

/** A native modal dialog: the browser keeps the focus inside and closes it with Escape. */
export function Dialog({ title, onClose, children, foot }: DialogProps): JSX.Element {
  const element = useRef<HTMLDialogElement>(null);
  const id = useId();
  useEffect(() => {
    const dialog = element.current;
    const opener = document.activeElement;
    if (!dialog?.open) dialog?.showModal();
    return () => {
      dialog?.close();
      if (opener instanceof HTMLElement) opener.focus();
    };
  }, []);
  return (
    <dialog
      ref={element}
      aria-labelledby={id}
      onCancel={(event) => {
        event.preventDefault();
        onClose();
      }}
    >
      <div class="dialog">
        <div class="dialog-head">
          <h2 id={id}>{title}</h2>
          <button
            type="button"
            class="button is-quiet is-small"
            aria-label="Close"
            onClick={onClose}
          >
            <Icon name="close" />
          </button>
        </div>
        <div class="dialog-body" tabIndex={-1}>
          {children}
        </div>
        {foot !== undefined && <div class="dialog-foot">{foot}</div>}
      </div>
    </dialog>
  );
}
