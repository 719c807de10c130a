import Foundation
import FoundationNetworking
import Testing
import TransferEngine
import TransferTestSupport

@testable import TransferNetworking

@Suite("Cookie stores")
struct CookieStoreTests {
    private func url(_ text: String = "http://a.example/") throws -> URL { try #require(URL(string: text)) }

    @Test func aStoreIsAsLargeAsItMayBe() throws {
        let store = CookieStore()
        let one = try #require(CookieOrigin("https://a.example/"))
        for number in 0..<CookieTable.domainLimit {
            store.receive(["n\(number)=1\(number == 0 ? "; Secure" : "")"], from: one, now: 1000 + Double(number))
        }
        // The cookies that were used last are kept, and secure cookies are kept longer than other cookies.
        _ = store.cookies(for: one, now: 2000)
        store.receive(["n1=1"], from: one, now: 3000)
        store.receive(["new=1"], from: one, now: 3001)
        let names = Set(store.cookies(for: one, now: 3002).map(\.name))
        #expect(names.count == CookieTable.domainLimit && names.isSuperset(of: ["n0", "n1", "new"]))
        // Expired cookies are removed first.
        store.receive(["n5=1; Max-Age=1"], from: one, now: 3003)
        store.receive(["newer=1"], from: one, now: 4000)
        let later = Set(store.cookies(for: one, now: 4001).map(\.name))
        #expect(later.contains("newer") && !later.contains("n5") && later.count == CookieTable.domainLimit)
        for number in 0..<CookieTable.limit {
            let origin = try #require(CookieOrigin("http://h\(number).example/"))
            store.receive(["a=1"], from: origin, now: 5000 + Double(number))
        }
        let count = store.cookies.count
        #expect(count == CookieTable.limit)
    }

    @Test func programsReadWriteAndRemoveCookies() throws {
        let store = CookieStore()
        #expect(store.isEmpty)
        store.receive(["a=1; HttpOnly", "b=2; Domain=a.example; Max-Age=60; Path=/p"], from: try url())
        #expect(!store.isEmpty)
        let all = store.cookies
        #expect(all.map(\.name) == ["a", "b"])
        let first = try #require(all.first)
        #expect(first.isHTTPOnly && first.isSessionOnly && first.domain == "a.example" && first.path == "/")
        let second = try #require(all.last)
        #expect(second.domain == ".a.example" && second.path == "/p" && !second.isSessionOnly)
        #expect(abs((second.expiresDate?.timeIntervalSinceNow ?? 0) - 60) < 5)
        #expect(store.cookies(for: try url("http://www.a.example/p/x")).map(\.name) == ["b"])
        store.deleteCookie(first)
        #expect(store.cookies.map(\.name) == ["b"])
        let own = try #require(
            HTTPCookie(properties: [.name: "c", .value: "3", .domain: ".a.example", .path: "/", .secure: "TRUE"]))
        store.setCookie(own)
        #expect(store.cookies(for: try url("https://x.a.example/")).map(\.name) == ["c"])
        #expect(store.cookies(for: try url("http://x.a.example/")).isEmpty)
        store.removeSessionCookies()
        #expect(store.cookies.map(\.name) == ["b"])
        store.removeCookies(since: Date().addingTimeInterval(60))
        #expect(store.cookies.count == 1)
        store.removeCookies()
        #expect(store.isEmpty && store.cookies.isEmpty)
    }

    @Test(arguments: [("a b", "1;2"), ("", "1"), ("a", "1\r\nX: 2"), ("a=b", "1"), ("a\u{0}", "1")])
    func aProgramsCookieThatCantBeSentIsNotKept(_ name: String, _ value: String) throws {
        let store = CookieStore()
        let cookie = try #require(
            HTTPCookie(properties: [.name: name, .value: value, .domain: "a.example", .path: "/"]))
        store.setCookie(cookie)
        #expect(store.isEmpty)
    }

    @Test func aSavedStoreIsReadAgainByItsOwnerAlone() throws {
        let folder = try TemporaryFolder("cookies")
        let file = URL(fileURLWithPath: folder.path("cookies.json"))
        let store = CookieStore()
        store.receive(
            ["session=1", "z=1; Max-Age=600; Domain=a.example; Path=/p; SameSite=Lax", "y=2; Max-Age=600"],
            from: try url())
        try store.save(to: file)
        let mode = try FileManager.default.attributesOfItem(atPath: file.path)[.posixPermissions] as? Int
        #expect(mode == 0o600)
        let again = try CookieStore(contentsOf: file)
        #expect(again.cookies.map(\.name) == ["z", "y"])
        #expect(again.cookies(for: try url("http://x.a.example/p")).map(\.name) == ["z"])
        try store.save(to: file, includingSessionCookies: true)
        #expect(try CookieStore(contentsOf: file).cookies.map(\.name) == ["session", "z", "y"])
        let left = try FileManager.default.contentsOfDirectory(atPath: folder.path)
        #expect(left == ["cookies.json"])
        try folder.write("nonsense", to: "bad.json")
        #expect(throws: (any Error).self) {
            try CookieStore(contentsOf: URL(fileURLWithPath: folder.path("bad.json")))
        }
    }

    @Test func aStoreIsUsedByManyThreads() async throws {
        let store = CookieStore()
        let url = try url()
        await withTaskGroup(of: Void.self) { group in
            for task in 0..<8 {
                group.addTask {
                    for number in 0..<200 {
                        store.receive(["t\(task)=\(number)"], from: url)
                        _ = store.cookies(for: url)
                    }
                }
            }
        }
        #expect(Set(store.cookies.map { "\($0.name)=\($0.value)" }) == Set((0..<8).map { "t\($0)=199" }))
    }

    // MARK: Foundation's storage

    @Test func aStorageOfFoundationsIsJudgedByTheSameRules() throws {
        let storage = try #require(URLSessionConfiguration.ephemeral.httpCookieStorage)
        let keeper = StorageCookies(storage)
        let origin = try #require(CookieOrigin("https://www.example.com/p/x"))
        let plain = try #require(CookieOrigin("http://www.example.com/p/x"))
        let field = { StoredCookie.field(keeper.cookies(for: $0, now: 1.7e9 + 9)) }
        #expect(keeper.isEmpty)
        keeper.receive(
            ["a=1; Path=/", "b=2; Domain=example.com", "c=3; Domain=com", "d=4; Secure", "e=5; Domain=other.com"],
            from: origin, now: 1.7e9)
        #expect(!keeper.isEmpty)
        #expect(field(origin) == "b=2; d=4; a=1")
        #expect(field(plain) == "b=2; a=1")
        #expect(field(try #require(CookieOrigin("http://example.com/p"))) == "b=2")
        keeper.receive(["d=evil"], from: plain, now: 1.7e9 + 1)
        keeper.receive(["b=9; Domain=example.com", "a=; Path=/; Max-Age=0", "f=6"], from: plain, now: 1.7e9 + 2)
        #expect(field(origin) == "b=9; d=4; f=6", "a cookie that is set anew keeps its place")
        // The program's own changes count at once.
        for cookie in storage.cookies ?? [] where cookie.name == "b" { storage.deleteCookie(cookie) }
        let own = try #require(
            HTTPCookie(properties: [.name: "own", .value: "1", .domain: ".example.com", .path: "/"]))
        storage.setCookie(own)
        #expect(field(origin) == "d=4; f=6; own=1")
    }

    @Test func aDefaultConfigurationWritesNothingIntoTheHomeFolder() throws {
        let settings = SessionSettings()
        guard case .store(let store) = settings.cookies.place else {
            Issue.record("the shared storage is used")
            return
        }
        #expect(store.isEmpty)
        #expect(settings.cookies.acceptPolicy == .onlyFromMainDocumentDomain && settings.cookies.sendsCookies)
        guard case .storage(let storage) = SessionSettings(configuration: .af.ephemeral).cookies.place else {
            Issue.record("the configuration's own storage is not used")
            return
        }
        #expect(storage !== HTTPCookieStorage.shared)
        let without = URLSessionConfiguration.af.default
        without.httpCookieStorage = nil
        without.httpShouldSetCookies = false
        without.httpCookieAcceptPolicy = .never
        let none = SessionSettings(configuration: without).cookies
        guard case .nowhere = none.place else {
            Issue.record("cookies without a storage")
            return
        }
        #expect(none.acceptPolicy == .never && !none.sendsCookies)
    }
}
