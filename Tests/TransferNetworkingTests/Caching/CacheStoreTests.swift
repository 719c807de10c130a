import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferNetworking

@Suite("The store of the cache", .timeLimit(.minutes(1)))
struct CacheStoreTests {
    private func response(_ name: String, count: Int = 10, tag: String = "1") -> (CachedURLResponse, URLRequest) {
        let url = URL(string: "http://example.com/\(name)")!
        let head = HTTPURLResponse(
            url: url, statusCode: 200, httpVersion: "HTTP/1.1",
            headerFields: ["Cache-Control": "max-age=60", "ETag": "\"\(tag)\""])!
        let data = Data(repeating: UInt8(ascii: "x"), count: count)
        return (CachedURLResponse(response: head, data: data), URLRequest(url: url))
    }

    private func store(_ name: String, count: Int = 10, in cache: URLCache) {
        let (response, request) = response(name, count: count)
        cache.storeCachedResponse(response, for: request)
    }

    private func has(_ name: String, in cache: URLCache) -> Bool {
        cache.cachedResponse(for: response(name).1) != nil
    }

    private func files(_ folder: TemporaryFolder) throws -> [String] { try folder.files(below: "responses-1") }

    private func mode(_ path: String) throws -> Int {
        let attributes = try FileManager.default.attributesOfItem(atPath: path)
        return try #require(attributes[.posixPermissions] as? Int)
    }

    // MARK: Memory

    @Test func theLeastRecentlyUsedEntryInMemoryIsRemovedFirst() {
        let cache = TransferCache(CacheClock(), memory: 30_000)
        for name in ["a", "b", "c"] { store(name, count: 1000, in: cache) }
        let each = cache.currentMemoryUsage / 3
        cache.memoryCapacity = each * 3 + each / 2
        #expect(each > 1000 && each < 2000)
        // An entry above 5 % of the capacity is not stored, so the capacity shrinks afterwards.
        #expect(has("a", in: cache))
        cache.memoryCapacity = each * 2 + each / 2
        #expect(has("a", in: cache) && !has("b", in: cache) && has("c", in: cache))
        #expect(cache.currentMemoryUsage <= cache.memoryCapacity)
        cache.memoryCapacity = 0
        #expect(cache.currentMemoryUsage == 0 && !has("a", in: cache))
    }

    @Test func theMemoryIsNeverAboveItsCapacity() {
        let cache = TransferCache(CacheClock(), memory: 50_000)
        for number in 0..<500 {
            store("\(number)", count: number * 5, in: cache)
            #expect(cache.currentMemoryUsage <= 50_000)
            if number % 3 == 0 { _ = has("0", in: cache) }
        }
        #expect(has("0", in: cache) && has("499", in: cache) && !has("300", in: cache))
    }

    @Test func removingDropsOneOrAllOrWhatCameSince() {
        let clock = CacheClock()
        let cache = TransferCache(clock)
        for name in ["a", "b"] { store(name, in: cache) }
        clock.advance(10)
        store("c", in: cache)
        cache.removeCachedResponse(for: response("a").1)
        #expect(!has("a", in: cache) && has("b", in: cache))
        cache.removeCachedResponses(since: Date(timeIntervalSince1970: clock.now - 5))
        #expect(has("b", in: cache) && !has("c", in: cache))
        cache.removeAllCachedResponses()
        #expect(!has("b", in: cache) && cache.currentMemoryUsage == 0)
    }

    // MARK: Disk

    @Test func entriesOnDiskAreAvailableToAnotherInstance() async throws {
        try await withTestServer { server async throws in
            let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
            server.count(
                "/r", clock, ["Cache-Control": "max-age=60", "Vary": "X-A", "ETag": "\"1\"", "Set-Cookie": "s=1"])
            func client() -> CachingClient {
                CachingClient(clock: clock, cache: TransferCache(clock, disk: 1 << 20, folder: folder.path))
            }
            let first = client()
            await first.ask(server.url("/r"), .get, ["X-A": "1", "Authorization": "Bearer very-secret"])
            await first.ask(server.url("/r"), .get, ["X-A": "2"])
            #expect(first.cache.currentDiskUsage > 0)
            let second = client()
            let answer = await second.ask(
                server.url("/r"), .get, ["X-A": "1", "Authorization": "Bearer very-secret"])
            // The newest answer to a request without credentials.
            #expect(answer.text == "1" && answer.fetches == [.localCache])
            #expect(await second.ask(server.url("/r"), .get, ["X-A": "2"]).text == "2")
            #expect(server.count(to: "/r") == 2)
            let file = try folder.data("responses-1/" + (try #require(try files(folder).first)))
            #expect(file.range(of: Data("very-secret".utf8)) == nil)
        }
    }

    @Test func entriesOnDiskAreReadableByTheirOwnerOnly() throws {
        let folder = try TemporaryFolder("cache")
        let cache = TransferCache(CacheClock(), disk: 1 << 20, folder: folder.path("new/place"))
        store("a", in: cache)
        #expect(cache.currentDiskUsage > 0)
        #expect(try mode(folder.path("new/place/responses-1")) == 0o700)
        let file = try #require(try folder.files(below: "new/place/responses-1").first)
        #expect(try mode(folder.path("new/place/responses-1/\(file)")) == 0o600)
    }

    @Test func aFolderThatOthersCanReadIsClosedToThem() throws {
        let folder = try TemporaryFolder("cache")
        try folder.folder("responses-1")
        let cache = TransferCache(CacheClock(), disk: 1 << 20, folder: folder.path)
        store("a", in: cache)
        #expect(cache.currentDiskUsage > 0)
        #expect(try mode(folder.path("responses-1")) == 0o700)
    }

    @Test func aLinkInPlaceOfTheFolderIsNotWrittenThrough() throws {
        let folder = try TemporaryFolder("cache")
        let other = try folder.folder("other")
        try FileManager.default.createSymbolicLink(
            atPath: folder.path("responses-1"), withDestinationPath: other)
        let cache = TransferCache(CacheClock(), disk: 1 << 20, folder: folder.path)
        store("a", in: cache)
        #expect(cache.currentDiskUsage == 0)
        #expect(try folder.files(below: "other").isEmpty)
    }

    enum Damage: CaseIterable { case cut, flipped, emptied, longer, garbage, foreign }

    @Test(arguments: Damage.allCases)
    func aFileThatWasDamagedIsDroppedAndNotBelieved(_ damage: Damage) throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        func cache() -> TransferCache { TransferCache(clock, disk: 1 << 20, folder: folder.path) }
        let first = cache()
        store("a", count: 500, in: first)
        #expect(first.currentDiskUsage > 500)
        let name = "responses-1/" + (try #require(try files(folder).first))
        var data = try folder.data(name)
        switch damage {
        case .cut: data.removeLast()
        case .flipped: data[data.count - 100] ^= 1
        case .emptied: data = Data()
        case .longer: data.append(0)
        case .garbage: data = Data(repeating: 7, count: 1000)
        case .foreign:
            // A complete file that belongs to another URL.
            store("b", in: first)
            #expect(first.currentDiskUsage > 0)
            let other = try #require(try files(folder).first { !name.hasSuffix($0) })
            data = try folder.data("responses-1/\(other)")
        }
        try folder.write(data, to: name)
        let second = cache()
        #expect(!has("a", in: second))
        #expect(!folder.exists(name))
        store("a", in: second)
        #expect(second.currentDiskUsage > 0)
        #expect(has("a", in: cache()))
    }

    @Test func theLeastRecentlyUsedEntryOnDiskIsRemovedFirst() throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        func cache() -> TransferCache { TransferCache(clock, memory: 0, disk: 40_000, folder: folder.path) }
        let first = cache()
        for number in 0..<20 {
            store("\(number)", count: 1000, in: first)
            clock.advance(1)
        }
        #expect(has("0", in: first))
        clock.advance(1)
        let all = first.currentDiskUsage
        #expect(all > 20_000 && all < 40_000)
        first.diskCapacity = all / 2
        #expect(first.currentDiskUsage <= all / 2 && first.currentDiskUsage > all / 4)
        #expect(has("0", in: first) && has("19", in: first) && !has("1", in: first))
        #expect(has("19", in: cache()))
    }

    @Test func theDiskIsNotFilledAboveItsCapacity() throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        let cache = TransferCache(clock, memory: 0, disk: 50_000, folder: folder.path)
        for number in 0..<100 {
            store("\(number)", count: 2000, in: cache)
            clock.advance(1)
            #expect(cache.currentDiskUsage <= 50_000)
        }
        #expect(has("99", in: cache) && !has("0", in: cache))
    }

    @Test func twoInstancesShareAFolder() throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        let caches = (0..<2).map { _ in TransferCache(clock, memory: 0, disk: 1 << 20, folder: folder.path) }
        DispatchQueue.concurrentPerform(iterations: 200) { number in
            store("\(number % 20)", count: 100 * (number % 7), in: caches[number % 2])
            _ = has("\((number + 3) % 20)", in: caches[(number + 1) % 2])
        }
        for cache in caches { #expect(cache.currentDiskUsage > 0) }
        for number in 0..<20 { #expect(has("\(number)", in: caches[0]) && has("\(number)", in: caches[1])) }
        caches[0].removeCachedResponse(for: response("3").1)
        #expect(!has("3", in: caches[1]))
        #expect(try files(folder).allSatisfy { $0.hasSuffix(".response") })
    }

    @Test func leftoversOfAKilledProcessAreRemoved() throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        let cache = TransferCache(clock, disk: 1 << 20, folder: folder.path)
        store("a", in: cache)
        #expect(cache.currentDiskUsage > 0)
        try folder.write("half", to: "responses-1/left.part")
        cache.diskCapacity = 1 << 19
        #expect(cache.currentDiskUsage > 0)
        // The file may belong to a process that is still writing it.
        #expect(folder.exists("responses-1/left.part"))
        clock.advance(4000)
        cache.diskCapacity = 1 << 18
        #expect(cache.currentDiskUsage > 0)
        #expect(!folder.exists("responses-1/left.part"))
    }

    @Test func entriesForTheMemoryOnlyAreNotOnDisk() throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        let cache = TransferCache(clock, disk: 1 << 20, folder: folder.path)
        let (plain, request) = response("a")
        let response = CachedURLResponse(
            response: plain.response, data: plain.data, userInfo: nil, storagePolicy: .allowedInMemoryOnly)
        cache.storeCachedResponse(response, for: request)
        #expect(cache.currentDiskUsage == 0 && has("a", in: cache))
        #expect(cache.cachedResponse(for: request)?.storagePolicy == .allowedInMemoryOnly)
    }

    @Test func entriesTooLongForTheMemoryAreOnDisk() throws {
        let (folder, clock) = (try TemporaryFolder("cache"), CacheClock())
        let cache = TransferCache(clock, memory: 10_000, disk: 1 << 20, folder: folder.path)
        store("a", count: 20_000, in: cache)
        #expect(has("a", in: cache) && cache.currentMemoryUsage == 0 && cache.currentDiskUsage > 20_000)
    }

    @Test func aProgramFindsEntriesWithTheirFields() async throws {
        try await withTestServer { server async throws in
            let client = CachingClient()
            server.count("/r", client.clock, ["Cache-Control": "max-age=60", "ETag": "\"1\""])
            await client.ask(server.url("/r?q=1"))
            let found = client.cache.cachedResponse(for: try URLRequest(url: server.url("/r?q=1"), method: .get))
            #expect(found?.data == Data("1".utf8))
            #expect((found?.response as? HTTPURLResponse)?.value(forHTTPHeaderField: "ETag") == "\"1\"")
            let other = client.cache.cachedResponse(for: try URLRequest(url: server.url("/r?q=2"), method: .get))
            #expect(other == nil)
        }
    }

    // MARK: A URLCache that isn't ours

    @Test(arguments: [true, false])
    func aPlainURLCacheHoldsBytesAndAHitCountsForItsOwnURLOnly(onDisk: Bool) async throws {
        try await withTestServer { server async throws in
            let (folder, clock) = (try TemporaryFolder("plain"), CacheClock())
            let cache = URLCache(
                memoryCapacity: onDisk ? 0 : 1 << 20, diskCapacity: onDisk ? 1 << 20 : 0,
                diskPath: folder.path("cache"))
            var settings = SessionSettings()
            settings.cache = cache
            let session = Session(settings)
            server.count("/r", clock, ["Cache-Control": "max-age=60", "Vary": "X-A", "ETag": "\"1\""])
            func ask(_ path: String, _ headers: HTTPHeaders = [:]) async throws -> String {
                try await session.request(server.url(path), headers: headers).serializingString().value
            }
            #expect(try await ask("/r?q=1") == "1")
            #expect(try await ask("/r?q=1") == "1")
            // Foundation uses the same key for both.
            #expect(try await ask("/r?q=2") == "2")
            #expect(try await ask("/r?q=2", ["X-A": "other"]) == "3")
            #expect(try await ask("/r?q=2", ["X-A": "other"]) == "3")
        }
    }

    @Test func entriesOfAPlainURLCacheAreNotTrusted() async throws {
        try await withTestServer { server async throws in
            let cache = URLCache(memoryCapacity: 1 << 20, diskCapacity: 0, diskPath: "/dev/null")
            let url = try #require(URL(string: server.url("/r")))
            let head = try #require(
                HTTPURLResponse(
                    url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=60"]))
            cache.storeCachedResponse(
                CachedURLResponse(response: head, data: Data("planted".utf8)), for: URLRequest(url: url))
            var settings = SessionSettings()
            settings.cache = cache
            server.serve("/r", .text("true"))
            let text = try await Session(settings).request(url).serializingString().value
            #expect(text == "true")
        }
    }
}
