/** `<div ${styled({ height: '3px' })}>`: styles by properties, since the policy blocks attributes. */
import { noChange } from 'lit-html';
import { directive, Directive, type ElementPart } from 'lit-html/directive.js';

class Styled extends Directive {
  override render(_styles: Record<string, string>): unknown {
    return noChange;
  }
  override update(part: ElementPart, [styles]: [Record<string, string>]): unknown {
    const { style } = part.element as HTMLElement;
    for (const [name, value] of Object.entries(styles)) {
      if (style.getPropertyValue(name) !== value) style.setProperty(name, value);
    }
    return noChange;
  }
}

export const styled = directive(Styled);
