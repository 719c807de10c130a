import Dispatch
import Foundation
import FoundationNetworking

/// A store in a `URLCache` other than ``TransferCache``. Such a cache compares a part of the URL only, so that a hit
/// counts only when the response's own key is equal. The cache holds one response for each of its keys.
///
/// `@unchecked Sendable`: `URLCache` is safe on any thread, all other properties are constant.
final class PlainCacheStore: ResponseStore, @unchecked Sendable {
    private let cache: URLCache
    let invalidations = InvalidationLog()
    /// The queue on which a disk may be read; `nil` for a cache in memory.
    private let queue: DispatchQueue?

    init(_ cache: URLCache) {
        self.cache = cache
        let isInMemory = type(of: cache) == URLCache.self && cache.diskCapacity == 0
        queue = isInMemory ? nil : DispatchQueue(label: "transferkit.cache.plain", qos: .userInitiated)
    }

    var isEmpty: Bool { queue == nil && cache.currentMemoryUsage == 0 }

    var longestBody: Int { max(cache.memoryCapacity, cache.diskCapacity) / 20 }

    func find(_ key: String, _ found: @escaping @Sendable ([StoredResponse]) -> Void) {
        perform { [self] in found(look(key)) }
    }

    func insert(_ response: StoredResponse) {
        perform { [self] in
            guard let request = request(response.key), response.body.count <= longestBody,
                let cached = CachedURLResponse(response)
            else { return }
            cache.storeCachedResponse(cached, for: request)
        }
    }

    func remove(_ response: StoredResponse) { removeAll(of: response.key) }

    func removeAll(of key: String) {
        perform { [self] in if let request = request(key) { cache.removeCachedResponse(for: request) } }
    }

    private func look(_ key: String) -> [StoredResponse] {
        guard let request = request(key), let cached = cache.cachedResponse(for: request),
            let response = StoredResponse(own: cached), response.key == key
        else { return [] }
        return [response]
    }

    private func perform(_ work: @escaping @Sendable () -> Void) {
        if let queue { queue.async(execute: work) } else { work() }
    }

    private func request(_ key: String) -> URLRequest? { URL(string: key).map { URLRequest(url: $0) } }
}
