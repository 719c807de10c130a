import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// aria2's interface, used by a client that was written for aria2, and compared with aria2 itself.
@Suite(.timeLimit(.minutes(3)), .enabled(if: Client.isThere("aria2p"))) struct Aria2Tests {
    /// Starts aria2 itself, with its interface.
    private func aria2(in folder: TemporaryFolder) async throws -> (ChildProcess, port: UInt16) {
        let port = try LoopbackPort.free()
        let process = try ChildProcess.start(
            ChildProcess.Command(
                "/usr/bin/aria2c",
                [
                    "--enable-rpc", "--rpc-listen-port=\(port)", "--rpc-secret=\(ServedPlace.secret)", "--no-conf=true",
                    "--dir=\(folder.path)", "--file-allocation=none", "--min-split-size=1M",
                ], environment: ["PATH": "/usr/bin:/bin", "HOME": folder.path], timeout: .seconds(150)))
        _ = try await process.line(.standardOutput) { $0.contains("listening on TCP port") }
        return (process, port)
    }

    @Test func documentedCallsWorkAsWithAria2() async throws {
        try await withTestServer { server in
            server.serve("/small", .random(seed: 1, count: 30_000))
            server.serve("/large", .random(seed: 2, count: 400_000))
            let folder = try TemporaryFolder("aria2")
            let (process, port) = try await aria2(in: folder)
            let theirs = try await Client.run(
                "aria2p_scenario.py", ["\(port)", ServedPlace.secret, server.url("/"), folder.path])
            process.kill(SIGKILL)
            try await withService { place in
                let ours = try await Client.run(
                    "aria2p_scenario.py", [place.port, place.secret, server.url("/"), place.folder.path("files")])
                #expect(ours.exitCode == 0, "\(ours)")
                let pairs = zip(theirs.lines, ours.lines)
                for (their, our) in pairs { #expect(their == our) }
                #expect(theirs.lines.count == ours.lines.count && ours.lines.count > 40, "\(theirs)")
            }
        }
    }

    @Test func theCommandLineOfAria2pWorks() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                func aria2p(_ arguments: [String]) async throws -> ProcessResult {
                    try await Client.tool(
                        "aria2p",
                        ["--host", "http://127.0.0.1", "--port", place.port, "--secret", place.secret] + arguments)
                }
                let added = try await aria2p(["add", server.url("/a")])
                #expect(added.exitCode == 0 && added.standardOutput.contains("Created download"), "\(added)")
                try await until("it is complete") { place.folder.size("files/a") == 1000 }
                let shown = try await aria2p(["show"])
                #expect(shown.exitCode == 0 && shown.standardOutput.contains("complete"), "\(shown)")
                for (command, option) in [("pause", ["--all"]), ("resume", ["--all"]), ("purge", [])] {
                    let result = try await aria2p([command] + option)
                    #expect(result.exitCode == 0, "\(command): \(result)")
                }
                let version = try await aria2p(["call", "getVersion"])
                #expect(version.exitCode == 0 && version.standardOutput.contains("enabledFeatures"), "\(version)")
            }
        }
    }

    @Test func notificationsComeByWebSocket() async throws {
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 1000))
            try await withService { place in
                let listener = try Client.start("aria2p_listen.py", [place.port, place.secret, "3"])
                _ = try await listener.line(.standardOutput) { $0.contains("enabledFeatures") }
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                let gid = try #require(answer.json["gid"] as? String)
                _ = try await place.job(gid, becomes: "done")
                _ = try await place.ask("/api/v1/jobs", json: job(server.url("/missing"), to: "b"))
                let result = try await listener.result()
                #expect(result.lines.contains("aria2.onDownloadStart \(gid)"), "\(result)")
                #expect(result.lines.contains("aria2.onDownloadComplete \(gid)"), "\(result)")
            }
        }
    }

    @Test func aSocketOfAnotherPageIsRefused() async throws {
        try await withService { place in
            let upgrade = [
                "Connection: Upgrade", "Upgrade: websocket", "Sec-WebSocket-Version: 13",
                "Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==",
            ]
            let foreign = try await place.ask(
                "/jsonrpc", headers: upgrade + ["Origin: https://evil.example"], curl: ["--max-time", "5"])
            #expect(foreign.status == 403)
        }
    }

    @Test func theResultsOfOneRequestHaveABound() async throws {
        try await withService { place in
            let token = #""token:letmein-please""#
            let adding = (0..<11).map { number in
                #"{"methodName": "aria2.addUri", "params": [\#(token), ["http://127.0.0.1:1/\#(number)"], {"pause": "true"}]}"#
            }
            let reading = (0..<950).map { _ in
                #"{"methodName": "aria2.tellWaiting", "params": [\#(token), 0, 1000, ["gid"]]}"#
            }
            func call(_ calls: [String]) async throws -> String {
                let list = calls.joined(separator: ", ")
                return try await place.ask(
                    "/jsonrpc",
                    json: #"{"jsonrpc": "2.0", "id": 1, "method": "system.multicall", "params": [[\#(list)]]}"#
                ).text
            }
            _ = try await call(adding)
            let text = try await call(reading)
            #expect(text.contains("too many entries"), "\(text.prefix(300))")
            #expect(text.components(separatedBy: "gid").count - 1 < 10_000 + 11)
        }
    }

    @Test func theSecretIsInTheCallAndJSONPIsRefused() async throws {
        try await withService { place in
            let call = #"{"jsonrpc": "2.0", "id": 1, "method": "aria2.tellActive", "params": []}"#
            let without = try await place.ask("/jsonrpc", json: call)
            #expect(without.status == 400 && without.text.contains("Unauthorized"), "a bearer is none of aria2's")
            let script = try await place.ask("/jsonrpc?jsoncallback=f&method=aria2.getVersion&id=1")
            #expect(script.status == 403)
            let folder = #"{"jsonrpc": "2.0", "id": 1, "method": "aria2.addUri", "params": ["token:letmein-please", ["#
            let elsewhere = try await place.ask(
                "/jsonrpc", json: folder + #""http://127.0.0.1:1/a"], {"dir": "/etc"}]}"#)
            #expect(elsewhere.status == 400 && elsewhere.text.contains("beneath it"), "\(elsewhere.text)")
            let lines = folder + #""http://127.0.0.1:1/a"], {"out": "a\n header=X: y"}]}"#
            #expect(try await place.ask("/jsonrpc", json: lines).status == 400, "a value is one line")
        }
    }
}

/// Third-party clients from PyPI.
enum Client {
    private static var folder: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().appendingPathComponent("Clients").path
    }

    private static var tools: String {
        URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
            .deletingLastPathComponent().appendingPathComponent(".build/peers/python/bin").path
    }

    /// Returns whether a suite that needs the tool runs. It fails without a required tool (`TRANSFER_PEERS=required`).
    static func isThere(_ tool: String) -> Bool {
        if FileManager.default.isExecutableFile(atPath: tools + "/" + tool) { return true }
        if ProcessInfo.processInfo.environment["TRANSFER_PEERS"] == "required" { return true }
        FileHandle.standardError.write(
            Data("SKIPPED: the suite with \(tool), as it is not installed (make setup-peers)\n".utf8))
        return false
    }

    static func start(_ script: String, _ arguments: [String]) throws -> ChildProcess {
        try ChildProcess.start(command(tools + "/python", [folder + "/" + script] + arguments))
    }

    static func run(_ script: String, _ arguments: [String]) async throws -> ProcessResult {
        try await start(script, arguments).result()
    }

    /// - Parameter folder: A folder for the tool's own files.
    static func tool(_ name: String, _ arguments: [String], in folder: String? = nil) async throws -> ProcessResult {
        var command = command(tools + "/" + name, arguments)
        if let folder {
            command.workingFolder = folder
            command.environment["HOME"] = folder
        }
        return try await ChildProcess.start(command).result()
    }

    private static func command(_ executable: String, _ arguments: [String]) -> ChildProcess.Command {
        ChildProcess.Command(
            executable, arguments,
            environment: [
                "PATH": "/usr/local/bin:/usr/bin:/bin", "HOME": "/nonexistent", "NO_PROXY": "*", "LANG": "C.UTF-8",
            ],
            timeout: .seconds(150))
    }
}

extension ProcessResult {
    var lines: [String] { standardOutput.split(separator: "\n").map(String.init) }
}

extension ServedPlace {
    var port: String { url.split(separator: ":").last.map(String.init) ?? "" }
}
