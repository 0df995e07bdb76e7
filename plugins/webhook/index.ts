import { createIntegration } from '@annex/runtime'
import type { Integration } from './generated/integration.ts'

/** The host keeps the deliveries, signs them and tries again: all that is left to do here is to choose. */
export default createIntegration<Integration>({
  events: {
    site_view: async (event, { environment, integration }) => {
      const site = environment.siteInstallation
      if (site?.status !== 'active' || !site.configuration.site_view) return
      await integration.queueDelivery({ url: site.configuration.webhook_url, event })
    },
    page_feedback: async (event, { environment, integration }) => {
      const site = environment.siteInstallation
      if (site?.status !== 'active' || !site.configuration.page_feedback) return
      await integration.queueDelivery({ url: site.configuration.webhook_url, event })
    },
    space_content_updated: async (event, { environment, integration }) => {
      const space = environment.spaceInstallation
      if (space?.status !== 'active' || !space.configuration.space_content_updated) return
      await integration.queueDelivery({ url: space.configuration.webhook_url, event })
    },
  },
})
