public import Dispatch
import Foundation
import FoundationNetworking
import Synchronization

/// The forms of a session in Foundation's types, each made on demand. A successor of a released session has the same.
final class FoundationForms: Sendable {
    let configuration: Mutex<URLSessionConfiguration?>
    let session: Mutex<URLSession?>

    init(_ configuration: URLSessionConfiguration?, _ session: URLSession?) {
        self.configuration = Mutex(configuration)
        self.session = Mutex(session)
    }
}

/// The parts of a session that are made of its settings.
struct SessionParts: Sendable {
    let rootQueue: DispatchQueue
    let requestQueue: DispatchQueue
    let serializationQueue: DispatchQueue
    /// Whether there are monitors that always receive events.
    let isObserved: Bool
    let eventMonitor: CompositeEventMonitor
    let cache: SessionCache?
    let cookies: SessionCookies?
    let protocols: ProtocolClasses?
    let hosts: HostSlots
    let foundation: FoundationForms

    /// - Parameters:
    ///   - configuration: The configuration that the session shows; `nil` creates one on demand.
    ///   - session: The `URLSession` that the session shows; `nil` creates one on demand.
    init(_ settings: SessionSettings, _ configuration: URLSessionConfiguration?, _ session: URLSession? = nil) {
        foundation = FoundationForms(configuration, session)
        let root = settings.rootQueue ?? DispatchQueue(label: "transferkit.session.root")
        rootQueue = root
        requestQueue = settings.requestQueue ?? DispatchQueue(label: "transferkit.session.requests", target: root)
        serializationQueue = settings.serializationQueue ?? DispatchQueue(label: "transferkit.session.serialization")
        isObserved = settings.eventMonitors.contains { !($0 is AlamofireNotifications) }
        eventMonitor = CompositeEventMonitor(monitors: settings.eventMonitors)
        cache = settings.cache.map { SessionCache($0) }
        cookies = SessionCookies(settings.cookies)
        protocols = ProtocolClasses(settings.protocolClasses)
        hosts = HostSlots(limit: settings.maximumConnectionsPerHost)
    }
}

extension Session {
    /// The queue on which retriers and validations are called.
    public var rootQueue: DispatchQueue { parts.rootQueue }
    /// The queue on which URL requests are created and adapted.
    public var requestQueue: DispatchQueue { parts.requestQueue }
    /// The queue on which responses are serialized.
    public var serializationQueue: DispatchQueue { parts.serializationQueue }
    /// The monitor that passes events to all monitors of the session.
    public var eventMonitor: CompositeEventMonitor { parts.eventMonitor }

    var isObserved: Bool { parts.isObserved }
    var cache: SessionCache? { parts.cache }
    var cookies: SessionCookies? { parts.cookies }
    var protocols: ProtocolClasses? { parts.protocols }
    var hosts: HostSlots { parts.hosts }
}
