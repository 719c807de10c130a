public import Foundation
public import FoundationNetworking
import Synchronization
import TransferEventLoop

/// A private HTTP cache (RFC 9111) in memory and, optionally, in a folder: for `URLSessionConfiguration.urlCache` or
/// ``SessionSettings/cache``.
///
/// The cache replaces Foundation's, whose keys on Linux omit the query, the scheme and Vary. Several sessions may share
/// a cache; several processes may share a folder. A response to a request with credentials (`Authorization`) is
/// returned only to requests with the same ones, unless the server calls it `public`. Bodies larger than 5 % of a
/// capacity are not stored there. Files are readable by their owner only; damaged files are dropped.
///
/// The cache reads and writes files on a queue of its own; the methods of `URLCache` wait for that queue.
///
/// `@unchecked Sendable`: mutable state is protected by a lock, or used on the queue only.
public final class TransferCache: URLCache, @unchecked Sendable {
    /// The capacity of a cache that the program has not asked for, in bytes.
    static let defaultCapacity = 8 << 20

    private let memory: Mutex<MemoryStore>
    /// The responses on disk. Used on ``queue`` only.
    private var disk: DiskStore?
    private let hasDisk: Bool
    private let diskLimit: Atomic<Int>
    private let queue = DispatchQueue(label: "transferkit.cache", qos: .userInitiated)
    let invalidations = InvalidationLog()
    /// The clock, in seconds since 1970.
    let now: @Sendable () -> Double
    /// Whether the program has not asked for this cache. Then only responses that the rules make reusable are kept.
    let isDefault: Bool

    /// Creates a cache.
    ///
    /// - Parameters:
    ///   - memoryCapacity: The capacity in memory, in bytes; 0 keeps nothing there.
    ///   - diskCapacity: The capacity on disk, in bytes; 0 keeps nothing there.
    ///   - folder: The folder in which a folder `responses-1` is made when the first response is stored; `nil` keeps
    ///     nothing on disk.
    public convenience init(memoryCapacity: Int = 8 << 20, diskCapacity: Int = 0, folder: URL? = nil) {
        self.init(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, folder: folder?.path, isDefault: false,
            now: { WallClock.now })
    }

    /// - Parameter now: The clock, in seconds since 1970.
    init(
        memoryCapacity: Int, diskCapacity: Int, folder: String?, isDefault: Bool,
        now: @escaping @Sendable () -> Double
    ) {
        memory = Mutex(MemoryStore(capacity: max(0, memoryCapacity)))
        disk = folder.map { DiskStore(folder: "\($0)/responses-1", capacity: max(0, diskCapacity)) }
        hasDisk = folder != nil
        diskLimit = Atomic(folder == nil ? 0 : max(0, diskCapacity))
        self.isDefault = isDefault
        self.now = now
        // Foundation would create a folder at once, without a path in the user's home. Under this path it cannot.
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
    }

    /// The cache of a session whose configuration has none of its own.
    static func ofSession() -> TransferCache {
        TransferCache(
            memoryCapacity: defaultCapacity, diskCapacity: 0, folder: nil, isDefault: true, now: { WallClock.now })
    }

    // MARK: Capacities

    /// The capacity in memory, in bytes. A lower value evicts responses, the least recently used first.
    public override var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set { memory.withLock { $0.capacity = max(0, newValue) } }
    }

    /// The capacity on disk, in bytes. A lower value evicts responses, the least recently used first. Always 0 without
    /// a folder.
    public override var diskCapacity: Int {
        get { diskLimit.load(ordering: .relaxed) }
        set {
            guard hasDisk else { return }
            diskLimit.store(max(0, newValue), ordering: .relaxed)
            onQueue { disk, now in
                disk.capacity = max(0, newValue)
                disk.evict(at: now)
            }
        }
    }

    /// The approximate use of memory, in bytes.
    public override var currentMemoryUsage: Int { memory.withLock { $0.usage } }

    /// The size of the files in the folder, in bytes, whichever process wrote them. Each call reads the folder.
    public override var currentDiskUsage: Int { queue.sync { disk?.usage ?? 0 } }

    // MARK: Foundation's interface

    /// Returns the stored response that fits the request's URL and header fields, at any age.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let asked = CacheRequest(stored: request) else { return nil }
        let all = memory.withLock({ $0.find(asked.key) }) ?? queue.sync { readDisk(asked.key) }
        guard case .answer(let found, _) = CacheRules.decide(asked, stored: all, now: now()) else { return nil }
        return CachedURLResponse(found)
    }

    /// Stores a response to the request, whatever its header fields say about storing.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let asked = CacheRequest(stored: request),
            let response = StoredResponse(cachedResponse, of: asked, at: now())
        else { return }
        insert(response)
    }

    /// Drops all responses of the request's URL.
    public override func removeCachedResponse(for request: URLRequest) {
        guard let url = request.url?.absoluteString, let key = CacheKey.of(url) else { return }
        removeAll(of: key)
        queue.sync {}
    }

    /// Drops all responses.
    public override func removeAllCachedResponses() { drop(since: -.infinity) }

    /// Drops the responses that were stored, or on disk used, at that moment or later.
    public override func removeCachedResponses(since date: Date) { drop(since: date.timeIntervalSince1970) }

    private func drop(since moment: Double) {
        memory.withLock { $0.removeAll(since: moment) }
        onQueue { disk, _ in disk.removeAll(since: moment) }
        queue.sync {}
    }

    /// Passes the stored response of the task's current request to the handler, before the call returns.
    public override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping (CachedURLResponse?) -> Void
    ) { completionHandler(dataTask.currentRequest.flatMap { cachedResponse(for: $0) }) }

    /// Stores a response to the task's current request.
    public override func storeCachedResponse(
        _ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask
    ) { if let request = dataTask.currentRequest { storeCachedResponse(cachedResponse, for: request) } }

    /// Drops all responses of the URL of the task's current request.
    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }

    // MARK: Disk

    private func onQueue(_ work: @escaping @Sendable (inout DiskStore, Double) -> Void) {
        guard hasDisk else { return }
        // The moment of the call counts, not the moment at which the queue reaches the work.
        let moment = now()
        queue.async { [self] in
            if var store = disk {
                work(&store, moment)
                disk = store
            }
        }
    }

    /// Reads the responses of a URL, on the queue, and keeps them in memory for the next request.
    private func readDisk(_ key: String) -> [StoredResponse] {
        // The response may have been stored while this call waited for the queue.
        if let known = memory.withLock({ $0.find(key) }) { return known }
        guard let disk, let found = disk.find(key, at: now()) else { return [] }
        keepInMemory(found, of: key)
        return found
    }

    private func keepInMemory(_ responses: [StoredResponse], of key: String) {
        let moment = now()
        memory.withLock { $0.keep(responses, of: key, at: moment) }
    }
}

extension MemoryStore {
    /// Keeps the responses of a URL in memory. If one of them is too long, all of them are left to the disk.
    fileprivate mutating func keep(_ responses: [StoredResponse], of key: String, at now: Double) {
        let fits = responses.allSatisfy { $0.body.count <= capacity / 20 }
        put(fits ? responses : [], of: key, at: now)
    }
}

extension TransferCache: ResponseStore {
    var isEmpty: Bool { !hasDisk && memory.withLock { $0.isEmpty } }

    var longestBody: Int { max(memoryCapacity, diskCapacity) / 20 }

    func find(_ key: String, _ found: @escaping @Sendable ([StoredResponse]) -> Void) {
        if let known = memory.withLock({ $0.find(key) }) { return found(known) }
        guard hasDisk else { return found([]) }
        queue.async { [self] in found(readDisk(key)) }
    }

    func insert(_ response: StoredResponse) {
        guard response.body.count <= longestBody else { return remove(response) }
        change(response.key) { $0.inserting(response) }
    }

    func remove(_ response: StoredResponse) { change(response.key) { $0.removing(response) } }

    func removeAll(of key: String) { change(key) { _ in [] } }

    /// Changes the responses of a URL: at once if the memory has all of them, and on the queue on disk.
    private func change(_ key: String, _ change: @escaping @Sendable ([StoredResponse]) -> [StoredResponse]) {
        let moment = now()
        let isKnown = memory.withLock { store in
            let known = store.peek(key) ?? (hasDisk ? nil : [])
            if let known { store.keep(change(known), of: key, at: moment) }
            return known != nil
        }
        onQueue { [self] disk, now in
            let responses = change(disk.find(key, at: now) ?? [])
            disk.put(responses.filter { !$0.isMemoryOnly && $0.body.count <= disk.capacity / 20 }, of: key, at: now)
            if !isKnown { keepInMemory(responses, of: key) }
        }
    }
}
