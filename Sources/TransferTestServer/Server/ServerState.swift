import Glibc

/// The resource of a path.
enum Resource: Sendable {
    case file(key: String, ServedFile)
    case handler(@Sendable (Request) -> ResponsePlan)
    case sink(UploadSink)
    case uploads(any ServedUploadService)
    case missing(status: Int)
}

/// The state shared by all threads, guarded by the server's lock.
struct ServerState {
    struct Handler {
        let method: String?
        let pattern: String
        let resource: Resource
    }

    struct Waiter {
        let what: String
        let isSatisfied: @Sendable (ServerState) -> Bool
        let continuation: CheckedContinuation<Void, any Error>
    }

    struct Held {
        let wake: Socket
        let head: RequestHead
    }

    var files: [String: ServedFile] = [:]
    var handlers: [Handler] = []
    var scripts: [String: FaultScript] = [:]
    /// The scripts for kinds of requests, by their names.
    var kinds: [String: FaultScript] = [:]

    var requests: [RecordedRequest] = []
    var connections: [Int: Socket] = [:]
    var traffic = ServerTraffic()

    var threads: [Int: pthread_t] = [:]
    var endedThreads: [Int] = []
    var held: [Int: Held] = [:]
    /// The connections whose request was released before it was held.
    private var released: Set<Int> = []
    var waiters: [Int: Waiter] = [:]
    var nextWaiter = 0
    var isStopping = false

    mutating func begin(_ head: RequestHead, connection: Int, peer: String) -> (number: Int, Resource, Fault) {
        let number = requests.count + 1
        released.remove(connection)
        requests.append(RecordedRequest(head: head, number: number, connection: connection, peer: peer))
        traffic.begin(head.path)
        let fault = nextFault(head)
        return (number, resource(for: head, fault), fault)
    }

    mutating func release(_ matches: (RequestHead) -> Bool) {
        for request in requests where !request.isFinished && matches(request.head) {
            if let held = held[request.connection] {
                held.wake.shutdown()
            } else {
                released.insert(request.connection)
            }
        }
    }

    /// - Returns: Whether the request has to wait: it has not been released yet.
    mutating func hold(_ request: Held, _ connection: Int) -> Bool {
        guard released.remove(connection) == nil else { return false }
        held[connection] = request
        return true
    }

    mutating func finish(_ number: Int) {
        let path = requests[number - 1].head.path
        requests[number - 1].isFinished = true
        traffic.finish(path)
    }

    private mutating func nextFault(_ head: RequestHead) -> Fault {
        for name in kinds.keys.sorted() where kinds[name]?.isFor?(head) == true {
            return kinds[name]?.next(for: head.method) ?? .none
        }
        for key in ResourceKey.candidates(head) where scripts[key] != nil {
            return scripts[key]?.next(for: head.method) ?? .none
        }
        return .none
    }

    private mutating func resource(for head: RequestHead, _ fault: Fault) -> Resource {
        let handler = handlers.last {
            ($0.method == nil || $0.method == head.method) && ResourceKey.matches($0.pattern, head)
        }
        if let handler { return handler.resource }
        guard let key = ResourceKey.candidates(head).first(where: { files[$0] != nil }), let file = files[key] else {
            return .missing(status: 404)
        }
        guard head.method == "GET" || head.method == "HEAD" else { return .missing(status: 405) }
        files[key] = fault.changed(file)
        guard let changed = files[key] else { return .missing(status: 404) }
        return .file(key: key, fault.usesGzip ? changed.gzipped() : changed)
    }

    mutating func takeSatisfiedWaiters() -> [Waiter] {
        guard !waiters.isEmpty else { return [] }
        let satisfied = waiters.filter { $0.value.isSatisfied(self) }
        for number in satisfied.keys { waiters[number] = nil }
        return Array(satisfied.values)
    }
}
