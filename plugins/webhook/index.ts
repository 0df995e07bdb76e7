import { createIntegration } from '@annex/runtime'
import type { Integration } from './generated/integration.ts'

/** The host keeps the deliveries, signs them and tries again: all that is left to do here is to choose. */
export default createIntegration<Integration>({
  events: {
    site_view: async (event, { environment, integration }) => {
      const settings = environment.siteInstallation?.configuration
      if (settings?.site_view) await integration.queueDelivery({ url: settings.webhook_url, event })
    },
    page_feedback: async (event, { environment, integration }) => {
      const settings = environment.siteInstallation?.configuration
      if (settings?.page_feedback) await integration.queueDelivery({ url: settings.webhook_url, event })
    },
    space_content_updated: async (event, { environment, integration }) => {
      const settings = environment.spaceInstallation?.configuration
      if (settings?.space_content_updated)
        await integration.queueDelivery({ url: settings.webhook_url, event })
    },
  },
})
