import Foundation
import Testing
import TransferTestSupport

/// The same calls to aria2c and to the service, in the same order. Each answer is the same, or the difference is listed
/// with its reason here and in the article.
@Suite(.enabled(if: Aria2Difference.isWanted), .timeLimit(.minutes(2))) struct Aria2DifferenceTests {
    private static let article = URL(fileURLWithPath: #filePath).resolvingSymlinksInPath().deletingLastPathComponent()
        .deletingLastPathComponent().deletingLastPathComponent()
        .appendingPathComponent("Sources/TransferKit/TransferKit.docc/Aria2Interface.md")

    /// Starts aria2c with its interface.
    private func aria2(in folder: TemporaryFolder) async throws -> ServedPlace {
        let port = try LoopbackPort.free()
        let process = try ChildProcess.start(
            ChildProcess.Command(
                Aria2Difference.program,
                [
                    "--enable-rpc", "--rpc-listen-port=\(port)", "--rpc-secret=\(ServedPlace.secret)", "--no-conf=true",
                    "--dir=\(folder.path("files"))", "--file-allocation=none",
                ], environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path], timeout: .seconds(110)))
        _ = try await process.line(.standardOutput) { $0.contains("listening on TCP port") }
        return ServedPlace(
            folder: folder, process: process, url: "http://127.0.0.1:\(port)", secret: ServedPlace.secret)
    }

    @Test func answersAreTheSameExceptForTheListedOnes() async throws {
        let folder = try TemporaryFolder("aria2")
        _ = try folder.folder("files")
        let original = try await aria2(in: folder)
        var unlisted: [String] = []
        try await withService { place in
            for call in Aria2Difference.calls {
                let (theirs, ours) = (try await call.answer(of: original), try await call.answer(of: place))
                if (theirs == ours) != (call.reason == nil) { unlisted.append("\(call.text)\n  \(theirs)\n  \(ours)") }
            }
        }
        original.process.kill(SIGKILL)
        #expect(unlisted.isEmpty, "\(unlisted.joined(separator: "\n"))")
    }

    @Test func everyDifferenceIsInTheArticleWithItsReason() throws {
        let text = try String(contentsOf: Self.article, encoding: .utf8)
        for reason in Set(Aria2Difference.calls.compactMap(\.reason)) { #expect(text.contains(reason), "\(reason)") }
    }
}

/// A call whose answers are compared.
struct Aria2Difference: Sendable {
    /// The way of the request, and what is sent.
    enum Way: Sendable {
        /// A method with its parameters behind the secret, as JSON.
        case method(String, String)
        /// A body by POST.
        case body(String)
        /// A query by GET.
        case query(String)
    }

    let way: Way
    /// The reason for a difference; `nil` where the answers are the same.
    var reason: String?

    static let program = "/usr/bin/aria2c"

    /// Whether aria2 is there, or required (`TRANSFER_PEERS=required`, as in `make check`).
    static let isWanted: Bool = {
        if FileManager.default.isExecutableFile(atPath: program) { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        let line = "SKIPPED: the comparison with aria2c, which is not installed (Debian's package aria2)\n"
        FileHandle.standardError.write(Data(line.utf8))
        return false
    }()

    var text: String {
        switch way {
        case .method(let name, let parameters): "\(name) \(parameters)"
        case .body(let body): body
        case .query(let query): "GET \(query)"
        }
    }

    /// Returns the status and the body with sorted keys, and `DIR` for the folder of files.
    func answer(of place: ServedPlace) async throws -> String {
        let answer =
            switch way {
            case .method(let name, let parameters):
                try await place.ask("/jsonrpc", json: Self.call(name, parameters), secret: nil)
            case .body(let body): try await place.ask("/jsonrpc", json: body, secret: nil)
            case .query(let query): try await place.ask("/jsonrpc?\(query)", secret: nil)
            }
        let value = try? JSONSerialization.jsonObject(with: answer.body, options: .fragmentsAllowed)
        let sorted = try value.map {
            try JSONSerialization.data(
                withJSONObject: $0, options: [.sortedKeys, .withoutEscapingSlashes, .fragmentsAllowed])
        }
        let text = sorted.map { String(decoding: $0, as: UTF8.self) } ?? answer.text
        return "\(answer.status) \(text.replacingOccurrences(of: place.folder.path("files"), with: "DIR"))"
    }

    private static func call(_ name: String, _ parameters: String) -> String {
        // The calls within a call contain the secret.
        let secret = name.hasPrefix("system.") ? [] : [#""token:\#(ServedPlace.secret)""#]
        let list = (secret + (parameters.isEmpty ? [] : [parameters])).joined(separator: ", ")
        return #"{"jsonrpc": "2.0", "id": 1, "method": "\#(name)", "params": [\#(list)]}"#
    }

    private static func aria2(_ name: String, _ parameters: String = "", _ reason: String? = nil) -> Self {
        Self(way: .method("aria2." + name, parameters), reason: reason)
    }

    private static func system(_ name: String, _ parameters: String = "", _ reason: String? = nil) -> Self {
        Self(way: .method("system." + name, parameters), reason: reason)
    }

    private static func body(_ text: String, _ reason: String? = nil) -> Self {
        Self(way: .body(text), reason: reason)
    }

    private static func get(_ query: String, _ reason: String? = nil) -> Self {
        Self(way: .query(query), reason: reason)
    }

    private static func encoded(_ text: String) -> String { Data(text.utf8).base64EncodedString() }

    // MARK: The calls

    static let calls = adding + reading + changing + ending + shared + protocolCases

    private static let first = #""00000000000000a1""#
    private static let second = #""00000000000000a2""#
    private static let unknown = #""00000000000000ff""#

    private static let adding = [
        aria2("getVersion", "", "the version and the features are the service's own"),
        aria2("addUri", #"["http://127.0.0.1:9/x"], {"gid": \#(first), "out": "a.bin", "pause": "true"}"#),
        aria2("addUri", #"["http://127.0.0.1:9/x"], {"gid": \#(first), "out": "a.bin", "pause": "true"}"#),
        aria2("addUri", #"["http://127.0.0.1:9/y", "http://127.0.0.1:9/z"], {"gid": \#(second), "pause": "true"}, 0"#),
        aria2("addUri", "[]"), aria2("addUri"), aria2("addUri", #"["nothing"]"#),
        aria2("addUri", #""http://127.0.0.1:9/x""#), aria2("addUri", #"["http://127.0.0.1:9/x"], {"pause": "yes"}"#),
        aria2("addUri", #"["http://127.0.0.1:9/x"], {"split": "0"}"#),
        aria2("addUri", #"["http://127.0.0.1:9/x"], {"gid": "zz"}"#),
        aria2("addUri", #"["http://127.0.0.1:9/x"], {"gid": "0000000000000000"}"#),
        aria2("addUri", #"["http://127.0.0.1:9/x"], {"pause": "true"}, -1"#),
        aria2("addUri", #"["http://127.0.0.1:9/x"], "text""#),
        aria2("addTorrent", #""AAAA""#, "the service moves files by HTTP, FTP and SFTP, not by BitTorrent"),
        aria2("addMetalink", #""AAAA""#), aria2("addMetalink", #""****""#),
    ]

    private static let reading = [
        aria2("tellStatus", first), aria2("tellStatus", #"\#(first), ["gid", "status", "files", "nothing"]"#),
        aria2("tellStatus", #""a1", ["gid"]"#), aria2("tellStatus", unknown), aria2("tellStatus", #""xyz""#),
        aria2("tellStatus", #""""#), aria2("tellStatus", "7"), aria2("tellStatus"), aria2("tellActive", #"["gid"]"#),
        aria2("tellWaiting", #"0, 10, ["gid"]"#), aria2("tellWaiting", #"-1, 10, ["gid"]"#),
        aria2("tellWaiting", #"1, 1, ["gid"]"#), aria2("tellWaiting", "0, 0"), aria2("tellWaiting", "0, -1"),
        aria2("tellWaiting", #""0", 1"#), aria2("tellWaiting", "0"), aria2("tellStopped", #"0, 10, ["gid"]"#),
        aria2("tellStopped", "-1, 1"), aria2("getUris", first), aria2("getUris", unknown), aria2("getFiles", first),
        aria2("getPeers", first), aria2("getServers", first), aria2("getOption", unknown), aria2("getGlobalStat"),
    ]

    private static let changing = [
        aria2("changeOption", #"\#(first), {"max-download-limit": "10K"}"#),
        aria2("changeOption", #"\#(first), {"max-download-limit": "x"}"#),
        aria2("changeOption", #"\#(first), {"no-such-option": "1"}"#), aria2("changeOption", "\(first), {}"),
        aria2("changeOption", first), aria2("changeOption", #"\#(first), {"split": 3}"#), aria2("pause", first),
        aria2("forcePause", first), aria2("pause", unknown), aria2("unpause", unknown),
        aria2("changePosition", #"\#(first), 0, "POS_SET""#), aria2("changePosition", #"\#(first), 1, "POS_CUR""#),
        aria2("changePosition", #"\#(first), 0, "POS_END""#), aria2("changePosition", #"\#(first), 99, "POS_SET""#),
        aria2("changePosition", #"\#(first), -9, "POS_SET""#), aria2("changePosition", #"\#(first), 0, "NOWHERE""#),
        aria2("changePosition", #"\#(unknown), 0, "POS_SET""#), aria2("changePosition", #"\#(first), "0", "POS_SET""#),
        aria2("changeUri", #"\#(first), 1, [], ["http://127.0.0.1:9/w"]"#), aria2("changeUri", "\(first), 2, [], []"),
        aria2("changeUri", "\(first), 0, [], []"), aria2("changeUri", #"\#(first), 1, ["http://127.0.0.1:9/w"], []"#),
        aria2("changeUri", "\(unknown), 1, [], []"), aria2("changeUri", #"\#(first), 1, [], ["x"]"#),
    ]

    private static let ending = [
        aria2("removeDownloadResult", first), aria2("remove", second), aria2("tellStatus", #"\#(second), ["status"]"#),
        aria2("remove", second), aria2("removeDownloadResult", second), aria2("removeDownloadResult", unknown),
        aria2("remove", unknown), aria2("forceRemove", first), aria2("tellStopped", #"0, 10, ["gid", "status"]"#),
        aria2("purgeDownloadResult"), aria2("tellStopped", #"0, 10, ["gid", "status"]"#),
    ]

    private static let shared = [
        aria2("changeGlobalOption", #"{"max-overall-download-limit": "50K"}"#),
        aria2("changeGlobalOption", #"{"max-concurrent-downloads": "0"}"#),
        aria2("changeGlobalOption", #"{"max-concurrent-downloads": "x"}"#), aria2("changeGlobalOption", "{}"),
        aria2("changeGlobalOption"), aria2("pauseAll"), aria2("forcePauseAll"), aria2("unpauseAll"),
        aria2("saveSession", "", "the queue is durable at every time, so there is nothing to save"), aria2("nothing"),
        system("listNotifications", "", "the service moves files by HTTP, FTP and SFTP, not by BitTorrent"),
        system("listMethods", "", "the service moves files by HTTP, FTP and SFTP, not by BitTorrent"),
        system(
            "multicall",
            #"[{"methodName": "aria2.getGlobalStat", "params": ["token:\#(ServedPlace.secret)"]}, "#
                + #"{"methodName": "aria2.tellStatus", "params": ["token:\#(ServedPlace.secret)", \#(unknown)]}]"#),
        system("multicall", #"[{"methodName": "system.multicall", "params": [[]]}]"#),
        system("multicall", #"[7, {"params": []}, {"methodName": "nothing"}]"#), system("multicall"),
        system("multicall", "{}"),
    ]

    private static let entries = "an entry of a batch that is no call is answered, as JSON-RPC 2.0 demands (section 6)"

    private static let protocolCases = [
        body(#"{"id": 1, "method": "aria2.getVersion", "params": ["token:wrong-secret"]}"#),
        body(#"{"id": 1, "method": "aria2.getVersion", "params": []}"#),
        body(#"{"id": 1, "method": "aria2.getVersion"}"#), body(#"{"method": "aria2.getVersion", "params": []}"#),
        body(#"{"id": 1, "params": []}"#), body(#"{"id": 1, "method": 7}"#),
        body(#"{"id": 1, "method": "aria2.getVersion", "params": {}}"#),
        body(#"{"id": 1, "method": "aria2.getVersion", "params": "x"}"#),
        body(#"{"id": 1, "method": "nothing", "params": null}"#), body(#"{"id": "x", "method": "nothing"}"#),
        body(#"{"id": null, "method": "nothing"}"#), body(#"{"id": [1], "method": "nothing"}"#),
        body(#"{"id": true, "method": "nothing"}"#), body(#"{"jsonrpc": "1.0", "id": 1, "method": "nothing"}"#),
        body(#"{"id": 1.5, "method": "nothing"}"#, "an id that is a fraction is returned as it was sent"),
        body("nonsense"), body("[]"), body("7"), body(#""x""#), body("null"), body("true"), body("{}"),
        body("[7]", entries), body("[[]]", entries), body(#"["x", {"id": 1, "method": "nothing"}]"#, entries),
        body(
            #"[{"id": 1, "method": "aria2.getSessionInfo", "params": ["token:wrong-secret"]}, "#
                + #"{"id": 2, "method": "nothing"}]"#), get("method=nothing&id=1"), get("method=nothing"), get("id=1"),
        get(""), get("method=aria2.tellStatus&id=1&params=!!"), get("params=!!"),
        get("method=aria2.tellStatus&id=1&params=\(encoded("nonsense."))"),
        get("method=aria2.tellStatus&id=1&params=\(encoded("{\"a\":1}."))"),
        get("method=aria2.tellStatus&id=1&params=\(encoded("[\"token:\(ServedPlace.secret)\",\"ff\"]"))"),
        get("params=\(encoded("[] "))"),
        get(
            "method=aria2.purgeDownloadResult&id=1&params=\(encoded("[\"token:\(ServedPlace.secret)\"]"))",
            "a GET changes nothing, because an image of any page can cause one"),
        get("method=nothing&id=1&jsoncallback=f", "JSONP would give the answer to any page"),
    ]
}
