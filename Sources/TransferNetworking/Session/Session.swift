public import Dispatch
import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEngine

// swift-format-ignore: AlwaysUseLowerCamelCase
/// The session that `Session.default` is, under the name that documented programs use.
public let AF = Session.default

/// Makes requests that share one configuration and one set of connections.
///
/// A session only builds requests; what they do with the network is theirs. Requests that are under way keep their
/// session; when the last of both is gone, its connections are closed.
public final class Session: Sendable {
    public static let `default` = Session()

    public let settings: SessionSettings
    /// Where requests go from one state to the next, and where interceptors are called.
    public let rootQueue: DispatchQueue
    /// Where responses are serialized.
    public let serializationQueue: DispatchQueue
    private let lazyEngine = Mutex<ExchangeEngine?>(nil)

    public var startRequestsImmediately: Bool { settings.startRequestsImmediately }
    public var interceptor: (any RequestInterceptor)? { settings.interceptor }

    public init(_ settings: SessionSettings = SessionSettings()) {
        self.settings = settings
        rootQueue = DispatchQueue(label: "transferkit.session.root", target: settings.targetQueue)
        serializationQueue = settings.serializationQueue ?? DispatchQueue(label: "transferkit.session.serialization")
    }

    /// - Parameters:
    ///   - rootQueue: The requests' own queue targets it.
    ///   - startRequestsImmediately: Whether a request starts when its first response handler is added.
    ///   - serializationQueue: `nil` makes one.
    ///   - interceptor: Called after that of a request itself.
    public convenience init(
        rootQueue: DispatchQueue? = nil, startRequestsImmediately: Bool = true,
        serializationQueue: DispatchQueue? = nil, interceptor: (any RequestInterceptor)? = nil
    ) {
        var settings = SessionSettings()
        settings.targetQueue = rootQueue
        settings.serializationQueue = serializationQueue
        settings.startRequestsImmediately = startRequestsImmediately
        settings.interceptor = interceptor
        self.init(settings)
    }

    deinit { lazyEngine.withLock { $0 }?.shutDown() }

    /// The session's connections and threads, made when the first request needs them.
    ///
    /// - Throws: `TransferError` when the system has no threads or descriptors left.
    func engine() throws -> ExchangeEngine {
        try lazyEngine.withLock { engine in
            if let engine { return engine }
            let made = try ExchangeEngine(loops: settings.loops)
            engine = made
            return made
        }
    }

    func chain(for request: Request) -> InterceptorChain {
        InterceptorChain(interceptors: [request.interceptor, settings.interceptor].compactMap { $0 })
    }
}

/// What holds for all requests of a session.
public struct SessionSettings: Sendable {
    /// Sent with every request that doesn't set the same field itself.
    public var headers = HTTPHeaders.default
    public var startRequestsImmediately = true
    public var interceptor: (any RequestInterceptor)?
    /// The queue that the session's own, serial one targets.
    public var targetQueue: DispatchQueue?
    public var serializationQueue: DispatchQueue?
    /// Time to connect, TLS included.
    public var connectTimeout: Duration = .seconds(30)
    /// The most redirects that are followed.
    public var maxRedirects = 10
    /// The proxy's URL; `nil` goes straight.
    public var proxy: String?
    /// Threads that carry transfers.
    public var loops = min(4, max(1, ProcessInfo.processInfo.activeProcessorCount))
    /// Where downloads are kept until they are complete.
    public var temporaryFolder = FileManager.default.temporaryDirectory.path

    public init() {}
}
