import { toasts } from '../state.ts'
import { Icon } from './icon.tsx'

export const Toasts = () => (
  <div class="toasts" role="status">
    {toasts.value.map(({ id, text }) => (
      <div class="toast" key={id}>
        <Icon name="check" />
        {text}
      </div>
    ))}
  </div>
)
