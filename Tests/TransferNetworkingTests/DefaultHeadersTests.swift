import Foundation
import FoundationNetworking
import Testing
import TransferCore
import TransferTestServer

@testable import TransferNetworking

@Suite("Default headers")
struct DefaultHeadersTests {
    @Test func theDefaultsAreEncodingLanguageAndAgent() {
        #expect(HTTPHeaders.default.map(\.name) == ["Accept-Encoding", "Accept-Language", "User-Agent"])
    }

    @Test(arguments: [
        (["br", "gzip", "deflate"], "br;q=1.0, gzip;q=0.9, deflate;q=0.8"),
        (["gzip", "deflate"], "gzip;q=1.0, deflate;q=0.9"), ([], "identity"),
    ])
    func onlyCodingsThatCanBeDecodedAreAskedFor(decodable: [String], value: String) {
        #expect(HTTPHeader.codings(decodable) == value)
    }

    @Test func theLoadedLibcurlDecodesAllOfThem() {
        // The libcurl of Debian and Ubuntu supports these codings.
        #expect(HTTPHeader.defaultAcceptEncoding == .acceptEncoding("br;q=1.0, gzip;q=0.9, deflate;q=0.8"))
    }

    @Test func upToSixLanguagesAreNamedWithFallingQuality() {
        #expect(
            HTTPHeader.languages(["de-DE", "en", "fr", "it", "es", "nl", "pl"])
                == "de-DE;q=1.0, en;q=0.9, fr;q=0.8, it;q=0.7, es;q=0.6, nl;q=0.5")
        #expect(HTTPHeader.languages([]) == "*")
        #expect(HTTPHeader.defaultAcceptLanguage.value.contains(";q=1.0"))
    }

    @Test(
        arguments: [
            ([:], []),
            (["LANG": "de_AT.UTF-8"], ["de-AT"]),
            (["LC_MESSAGES": "fr_FR", "LANG": "de_DE"], ["fr-FR"]),
            (["LC_ALL": "it", "LC_MESSAGES": "fr_FR", "LANG": "de_DE"], ["it"]),
            (["LC_ALL": "", "LANG": "de_DE@euro"], ["de-DE"]),
            (["LANGUAGE": "de:en_GB:fr", "LANG": "de_DE.UTF-8"], ["de", "en-GB", "fr", "de-DE"]),
            (["LANGUAGE": "de:fr:de"], ["de", "fr"]),
            (["LANGUAGE": "de:fr", "LC_ALL": "C.UTF-8"], ["de", "fr"]),
            (["LANGUAGE": "de:fr", "LC_ALL": "C"], []),
            (["LANG": "POSIX"], []), (["LANG": "C.UTF-8"], []), (["LANG": "zh_Hant_TW"], ["zh-Hant-TW"]),
            (["LANG": "de\r\nX: y"], []), (["LANG": "deutsch_DE"], []), (["LANGUAGE": ":::"], []),
        ] as [([String: String], [String])])
    func languagesAreThoseOfTheEnvironment(environment: [String: String], tags: [String]) {
        #expect(SystemLanguages(environment: environment).tags == tags)
    }

    @Test func theAgentNamesProgramBundleSystemAndLibrary() {
        #expect(
            HTTPHeader.agent(executable: "app", version: "1.2", bundle: "org.x", build: "7", system: "Linux 6.1.2")
                == "app/1.2 (org.x; build:7; Linux 6.1.2) TransferKit/\(TransferVersion.current)")
        #expect(
            HTTPHeader.agent(executable: nil, version: nil, bundle: nil, build: nil, system: "Linux 6.1.2")
                == "Unknown/Unknown (Unknown; build:Unknown; Linux 6.1.2) TransferKit/\(TransferVersion.current)")
    }

    @Test func aProgramsOddNameCantBreakTheHeader() {
        let agent = HTTPHeader.agent(executable: "a\r\nX: b→", version: "→", bundle: nil, build: " ", system: "L")
        #expect(agent == "aX: b/Unknown (Unknown; build:Unknown; L) TransferKit/\(TransferVersion.current)")
    }

    @Test func theAgentHasTheKernelsVersion() {
        let system = ProcessInfo.processInfo.operatingSystemVersion
        let version = "Linux \(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
        #expect(HTTPHeader.defaultUserAgent.value.contains("; \(version)) TransferKit/"))
    }

    @Test func theExtensionsConfigurationsAreNewAndHaveThem() {
        let configuration = URLSessionConfiguration.af.default
        #expect(configuration.headers == HTTPHeaders.default.sorted())
        configuration.headers["X-Mine"] = "1"
        #expect(URLSessionConfiguration.af.default.headers["X-Mine"] == nil)
        #expect(URLSessionConfiguration.default.httpAdditionalHeaders?["X-Mine"] == nil)
        #expect(URLSessionConfiguration.af.ephemeral.headers["User-Agent"] == HTTPHeader.defaultUserAgent.value)
        #expect(configuration.af.type === configuration)
    }

    @Test func theDefaultSessionHasItsDocumentedName() {
        #expect(Session.af.default === Session.default)
    }

    @Test func aRequestSendsThemAndADownloadAsksForNoCoding() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let session = makeSession()
            _ = try await session.request(server.url("/x")).serializingData().value
            let sent = try #require(server.requests.first).headers
            for header in HTTPHeaders.default { #expect(sent.all(header.name) == [header.value]) }
            _ = try await session.download(server.url("/x")).serializingDownloadedFileURL().value
            #expect(server.requests.last?.headers.all("Accept-Encoding") == ["identity"])
        }
    }

    @Test func aRequestsOwnHeadersTakeTheirPlace() async throws {
        try await withTestServer { server async throws in
            server.serve("/x", .text("x"))
            let headers: HTTPHeaders = [.acceptLanguage("tlh"), .acceptEncoding("identity")]
            _ = try await makeSession().request(server.url("/x"), headers: headers).serializingData().value
            let sent = try #require(server.requests.first).headers
            #expect(sent.all("Accept-Language") == ["tlh"])
            #expect(sent.all("Accept-Encoding") == ["identity"])
        }
    }
}
