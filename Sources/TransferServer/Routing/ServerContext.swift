import Hummingbird
import NIOCore

/// The facts about a request apart from the client's data.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// The client's rights.
    var level = AccessRules.Level.unauthenticated
    let channel: any Channel

    init(source: ApplicationRequestContextSource) {
        channel = source.channel
        coreContext = CoreRequestContextStorage(source: source)
    }
}
