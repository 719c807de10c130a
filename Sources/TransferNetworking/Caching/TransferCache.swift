public import Foundation
public import FoundationNetworking
import Synchronization
import TransferEventLoop

/// A private HTTP cache (RFC 9111) in memory and, where wanted, in a folder: for `URLSessionConfiguration.urlCache` or
/// ``SessionSettings/cache``.
///
/// The cache takes the place of Foundation's own, whose keys on Linux leave out the query, the scheme and Vary. Several
/// sessions may share one; several processes may share a folder. What was stored with credentials (`Authorization`) is
/// only given to requests with the same ones, unless the server calls it `public`. Bodies above 5 % of a capacity
/// aren't stored there. Files are readable by their owner only; those that were damaged are dropped.
///
/// The files on disk are read and written on a queue of its own; the methods of `URLCache` wait for it.
///
/// `@unchecked Sendable`: what changes is behind a lock, or used on the queue only.
public final class TransferCache: URLCache, @unchecked Sendable {
    /// Of a cache that nobody has asked for; bytes.
    static let defaultCapacity = 8 << 20

    private let memory: Mutex<MemoryStore>
    /// Used on ``queue`` only.
    private var disk: DiskStore?
    private let hasDisk: Bool
    private let diskLimit: Atomic<Int>
    private let queue = DispatchQueue(label: "transferkit.cache", qos: .userInitiated)
    let invalidations = InvalidationLog()
    /// Seconds since 1970.
    let now: @Sendable () -> Double
    /// Whether nobody has asked for it: then only what can be used again by the rules is kept.
    let isDefault: Bool

    /// - Parameters:
    ///   - memoryCapacity: Bytes; 0 keeps nothing in memory.
    ///   - diskCapacity: Bytes; 0 keeps nothing on disk.
    ///   - folder: Where answers are kept, in a folder `responses-1` of it that is made when it's needed; `nil` keeps
    ///     nothing on disk.
    public convenience init(memoryCapacity: Int = 8 << 20, diskCapacity: Int = 0, folder: URL? = nil) {
        self.init(
            memoryCapacity: memoryCapacity, diskCapacity: diskCapacity, folder: folder?.path, isDefault: false,
            now: { WallClock.now })
    }

    /// - Parameter now: Seconds since 1970.
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
        // Foundation makes a folder at once, in the user's home without a path. Here it can't.
        super.init(memoryCapacity: 0, diskCapacity: 0, diskPath: "/dev/null")
    }

    /// The cache of a session whose configuration has none of its own.
    static func ofSession() -> TransferCache {
        TransferCache(
            memoryCapacity: defaultCapacity, diskCapacity: 0, folder: nil, isDefault: true, now: { WallClock.now })
    }

    // MARK: Capacities

    /// Bytes; what is above it goes, the longest unused first.
    public override var memoryCapacity: Int {
        get { memory.withLock { $0.capacity } }
        set { memory.withLock { $0.capacity = max(0, newValue) } }
    }

    /// Bytes; what is above it goes, the longest unused first. Always 0 without a folder.
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

    /// Bytes, about.
    public override var currentMemoryUsage: Int { memory.withLock { $0.usage } }

    /// Bytes in the folder, of every process. Reads the folder.
    public override var currentDiskUsage: Int { queue.sync { disk?.usage ?? 0 } }

    // MARK: What Foundation's interface asks for

    /// The stored answer that fits the request's URL and header fields, however old it is.
    public override func cachedResponse(for request: URLRequest) -> CachedURLResponse? {
        guard let asked = CacheRequest(stored: request) else { return nil }
        let all = memory.withLock({ $0.find(asked.key) }) ?? queue.sync { readDisk(asked.key) }
        guard case .answer(let found, _) = CacheRules.decide(asked, stored: all, now: now()) else { return nil }
        return CachedURLResponse(found)
    }

    /// Stores an answer to the request, whatever its header fields say about storing.
    public override func storeCachedResponse(_ cachedResponse: CachedURLResponse, for request: URLRequest) {
        guard let asked = CacheRequest(stored: request),
            let response = StoredResponse(cachedResponse, of: asked, at: now())
        else { return }
        insert(response)
    }

    /// Drops all answers of the request's URL.
    public override func removeCachedResponse(for request: URLRequest) {
        guard let url = request.url?.absoluteString, let key = CacheKey.of(url) else { return }
        removeAll(of: key)
        queue.sync {}
    }

    public override func removeAllCachedResponses() { drop(since: -.infinity) }

    /// Drops what was stored, or used on disk, at that moment or later.
    public override func removeCachedResponses(since date: Date) { drop(since: date.timeIntervalSince1970) }

    private func drop(since moment: Double) {
        memory.withLock { $0.removeAll(since: moment) }
        onQueue { disk, _ in disk.removeAll(since: moment) }
        queue.sync {}
    }

    public override func getCachedResponse(
        for dataTask: URLSessionDataTask, completionHandler: @escaping (CachedURLResponse?) -> Void
    ) { completionHandler(dataTask.currentRequest.flatMap { cachedResponse(for: $0) }) }

    public override func storeCachedResponse(
        _ cachedResponse: CachedURLResponse, for dataTask: URLSessionDataTask
    ) { if let request = dataTask.currentRequest { storeCachedResponse(cachedResponse, for: request) } }

    public override func removeCachedResponse(for dataTask: URLSessionDataTask) {
        if let request = dataTask.currentRequest { removeCachedResponse(for: request) }
    }

    // MARK: Disk

    private func onQueue(_ work: @escaping @Sendable (inout DiskStore, Double) -> Void) {
        guard hasDisk else { return }
        // When it was asked for, not when its turn comes.
        let moment = now()
        queue.async { [self] in
            if var store = disk {
                work(&store, moment)
                disk = store
            }
        }
    }

    /// On the queue. What is found is kept in memory for the next who asks.
    private func readDisk(_ key: String) -> [StoredResponse] {
        // Stored while the queue was waited for.
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
    /// An answer that is too long for the memory leaves its URL to the disk as a whole.
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

    /// Here and now where the memory has all of the URL, and in its turn on disk.
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
