import Foundation
import FoundationNetworking
import Synchronization
import TransferCore
import TransferEventLoop
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

/// A clock that the test advances.
final class CacheClock: Sendable {
    private let offset = Mutex(0.0)
    private let start = WallClock.now.rounded(.down)

    /// Seconds since 1970.
    var now: Double { start + offset.withLock { $0 } }

    func advance(_ seconds: Double) { offset.withLock { $0 += seconds } }

    /// Returns the time in that many seconds, in HTTP's format.
    func date(_ seconds: Double = 0) -> String { TransferCore.HTTPDate.format(Int64(now + seconds)) }
}

extension TransferCache {
    convenience init(
        _ clock: CacheClock, memory: Int = 1 << 20, disk: Int = 0, folder: String? = nil, isDefault: Bool = false
    ) {
        self.init(
            memoryCapacity: memory, diskCapacity: disk, folder: folder, isDefault: isDefault, now: { clock.now })
    }
}

/// A session with a cache whose clock stands still.
struct CachingClient: Sendable {
    let clock: CacheClock
    let cache: TransferCache
    let session: Session

    init(
        clock: CacheClock = CacheClock(), cache: TransferCache? = nil, policy: URLRequest.CachePolicy? = nil,
        handler: (any CachedResponseHandler)? = nil, monitors: [any EventMonitor] = []
    ) {
        self.clock = clock
        self.cache = cache ?? TransferCache(clock)
        var settings = SessionSettings()
        settings.loops = 1
        settings.cache = self.cache
        settings.cachedResponseHandler = handler
        settings.eventMonitors = monitors
        if let policy { settings.cachePolicy = policy }
        session = Session(settings)
    }

    /// Returns the answer to a request, whatever its outcome.
    @discardableResult
    func ask(
        _ url: String, _ method: HTTPMethod = .get, _ headers: HTTPHeaders = [:],
        policy: URLRequest.CachePolicy? = nil
    ) async -> Answer {
        let request = session.request(url, method: method, headers: headers) { request in
            if let policy { request.cachePolicy = policy }
        }
        return Answer(await request.response(), request.metrics)
    }

    struct Answer: Sendable {
        let status: Int?
        let text: String
        let response: HTTPURLResponse?
        let error: AFError?
        /// The source of each transaction's answer.
        let fetches: [TransferTransactionMetrics.ResourceFetchType]

        init(_ response: AFDataResponse<Data?>, _ metrics: TransferTaskMetrics?) {
            status = response.response?.statusCode
            text = response.data.map { String(decoding: $0, as: UTF8.self) } ?? ""
            self.response = response.response
            error = response.error
            fetches = metrics?.transactionMetrics.map(\.resourceFetchType) ?? []
        }

        func field(_ name: String) -> String? { response?.value(forHTTPHeaderField: name) }
    }
}

extension TestServer {
    /// Serves answers that are numbered from 1 in their bodies, and whose fields can be changed.
    @discardableResult
    func count(
        _ path: String, _ clock: CacheClock, status: Int = 200, _ fields: HeaderFields = [:]
    ) -> CountingResource {
        let resource = CountingResource(clock, status: status, fields)
        handle(nil, path) { resource.answer($0) }
        return resource
    }

    func count(to path: String) -> Int { requests(to: path).count }
}

/// A resource that answers each request with its number, and a condition that holds with 304.
final class CountingResource: Sendable {
    struct State {
        var count = 0
        var status: Int
        var fields: HeaderFields
        /// The fields of a 304; `nil` for full answers in spite of the condition.
        var confirmation: HeaderFields? = [:]
    }

    private let state: Mutex<State>
    private let clock: CacheClock
    private let start: Double

    init(_ clock: CacheClock, status: Int, _ fields: HeaderFields) {
        self.clock = clock
        start = clock.now
        state = Mutex(State(status: status, fields: fields))
    }

    func change(_ change: (inout State) -> Void) { state.withLock { change(&$0) } }

    func answer(_ request: TransferTestServer.Request) -> TransferTestServer.Response {
        let state = state.withLock { state in
            state.count += 1
            return state
        }
        let fields = dated(state.fields)
        if let confirmation = state.confirmation, isConfirmed(request, fields) {
            return TransferTestServer.Response(status: 304, headers: dated(confirmation))
        }
        return TransferTestServer.Response(status: state.status, headers: fields, body: .text("\(state.count)"))
    }

    private func isConfirmed(_ request: TransferTestServer.Request, _ fields: HeaderFields) -> Bool {
        if let tag = request.headers["If-None-Match"] { return tag == fields["ETag"] }
        return request.headers["If-Modified-Since"].map { $0 == fields["Last-Modified"] } ?? false
    }

    /// Replaces a time like `@-60`, which is a minute before the resource was made.
    private func dated(_ fields: HeaderFields) -> HeaderFields {
        var dated = HeaderFields()
        for field in fields.fields {
            let seconds = field.value.hasPrefix("@") ? Double(field.value.dropFirst()) : nil
            dated.add(field.name, seconds.map { clock.date(start + $0 - clock.now) } ?? field.value)
        }
        if dated["Date"] == nil { dated["Date"] = clock.date() }
        return dated
    }
}
