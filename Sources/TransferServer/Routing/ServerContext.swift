import Hummingbird
import NIOCore

/// The facts of one request beside what the client sent.
struct ServerContext: RequestContext {
    var coreContext: CoreRequestContextStorage
    /// What the client may do.
    var level = AccessRules.Level.nobody

    init(source: ApplicationRequestContextSource) {
        coreContext = CoreRequestContextStorage(source: source)
    }
}
