import CTransferCurl
import Glibc
import Testing
import TransferCore

@testable import TransferEngine

/// The faults of a proxy are reported as faults of the proxy, and the faults of a server behind it are not.
@Suite struct ProxyFaultTests {
    private struct Case: Sendable {
        var code: CURLcode
        var proxy = "http://me:hunter2@px.lan:3128"
        var isTunnel = true
        var isOpen = false
        var isAnswered = false
        /// The reported code; `nil` if the proxy is not at fault.
        var kind: TransferError.Code?
        var words = ""
    }

    private static let cases = [
        Case(code: CURLE_COULDNT_CONNECT, kind: .cannotConnect, words: "cannot connect to the proxy"),
        Case(code: CURLE_COULDNT_CONNECT, isTunnel: false, kind: .cannotConnect, words: ": connection refused"),
        Case(code: CURLE_COULDNT_RESOLVE_PROXY, kind: .cannotResolveHost, words: "cannot find the proxy"),
        Case(code: CURLE_COULDNT_RESOLVE_HOST),
        Case(code: CURLE_PROXY, proxy: "socks5h://px.lan:3128", isTunnel: false, kind: .proxyRefused, words: "refused"),
        Case(code: CURLE_OPERATION_TIMEDOUT, kind: .cannotConnect, words: "did not answer in time"),
        Case(code: CURLE_OPERATION_TIMEDOUT, isTunnel: false, kind: .cannotConnect, words: "did not answer in time"),
        Case(code: CURLE_OPERATION_TIMEDOUT, isOpen: true), Case(code: CURLE_RECV_ERROR, isOpen: true),
        Case(code: CURLE_RECV_ERROR, kind: .connectionLost, words: "ended the connection, asked for one to a.example"),
        Case(code: CURLE_SEND_ERROR, kind: .connectionLost), Case(code: CURLE_GOT_NOTHING, kind: .connectionLost),
        Case(
            code: CURLE_GOT_NOTHING, isTunnel: false, isOpen: true, kind: .connectionLost,
            words: "ended the connection without an answer of a.example"),
        Case(code: CURLE_RECV_ERROR, isTunnel: false, isOpen: true, isAnswered: true),
        Case(code: CURLE_GOT_NOTHING, proxy: "socks5h://px.lan:3128", isTunnel: false, isOpen: true),
        Case(code: CURLE_PARTIAL_FILE),
        Case(code: CURLE_SSL_CONNECT_ERROR), Case(code: CURLE_PEER_FAILED_VERIFICATION),
        Case(
            code: CURLE_SSL_CONNECT_ERROR, proxy: "https://px.lan:3128", kind: .secureConnectionFailed,
            words: "no TLS connection to the proxy"),
        Case(code: CURLE_SSL_CONNECT_ERROR, proxy: "https://px.lan:3128", isOpen: true),
        Case(
            code: CURLE_PEER_FAILED_VERIFICATION, proxy: "https://px.lan:3128", isTunnel: false,
            kind: .certificateRefused, words: "certificate of the proxy"),
        Case(code: CURLE_PEER_FAILED_VERIFICATION, proxy: "https://px.lan:3128", isOpen: true),
    ]

    @Test(arguments: cases) private func aProxysFaultIsReportedAsTheProxys(_ one: Case) {
        let leg = ProxyFault.Leg(
            proxy: ProxyAddress(one.proxy), target: "a.example", isTunnel: one.isTunnel, isOpen: one.isOpen,
            isAnswered: one.isAnswered)
        let error = ProxyFault.error(one.code, leg, text: "words", systemError: ECONNREFUSED)
        #expect(error?.code == one.kind)
        guard let error else { return }
        #expect(error.proxyHost == "px.lan:3128" && error.message.contains(one.words), "\(error)")
        #expect(error.message.contains("px.lan:3128") && !error.message.contains("hunter2"))
        #expect(error.serverStatus == nil)
    }

    @Test func aNameThatIsNotFoundIsTheProxysOrTheServers() throws {
        let origin = try #require(Origin(url: "https://a.example/"))
        let targets = LookUpTarget.all(origin, proxy: "socks5://me:hunter2@px.lan:1080", isPublicOnly: false)
        let faults = targets.map { target in
            target.fault(
                TransferError(.cannotResolveHost, "cannot find the host \(target.host): no such name", scope: .origin))
        }
        #expect(
            faults.map(\.message) == [
                "cannot find the proxy px.lan: no such name", "cannot find the host a.example: no such name",
            ])
        #expect(faults.map(\.proxy) == ["socks5://px.lan:1080", nil])
        // A failure of this machine, which could not send the look-up.
        let lack = targets[0].fault(
            TransferError(.cannotResolveHost, "cannot ask for the host px.lan: too many open files"))
        #expect(lack.proxy == nil && lack.message == "cannot ask for the proxy px.lan: too many open files")
    }

    /// The name of a server behind a proxy is looked up for the judgement alone, unless the proxy takes addresses.
    @Test(arguments: [("http://px.lan:3128", false), ("socks5h://px.lan:1080", false), ("socks5://px.lan:1080", true)])
    func aServerBehindAProxyIsJudged(proxy: String, isGiven: Bool) throws {
        for (host, addresses, isRefused) in [
            ("a.example", ["93.184.215.14"], false), ("a.example", ["93.184.215.14", "10.0.0.1"], true),
            ("169.254.169.254", ["169.254.169.254"], true), ("localhost", ["127.0.0.1", "::1"], true),
        ] {
            let origin = try #require(Origin(url: "http://\(host)/"))
            let targets = LookUpTarget.all(origin, proxy: proxy, isPublicOnly: true)
            #expect(targets.map(\.host) == ["px.lan", host])
            #expect(targets[0].refusal(["10.0.0.2"]) == nil, "a proxy's address may be any")
            #expect((targets[1].refusal(addresses)?.code == .addressRefused) == isRefused, "\(host)")
            #expect(targets[1].isGiven == (isGiven && host == "a.example"))
        }
    }
}
