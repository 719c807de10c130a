import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// Configuration files and job files of a service, read at its start and again on SIGHUP.
@Suite(.timeLimit(.minutes(2))) struct ServedConfigurationTests {
    private let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("serve") }

    @discardableResult
    private func configure(_ members: String) throws -> String {
        try folder.write("{\"version\": 1, \(members)}", to: "config.json")
    }

    private func jobs(_ members: String) throws { try folder.write("{\"version\": 1, \(members)}", to: "jobs.json") }

    /// Runs a test with a service that uses the configuration and the job file, if they exist.
    private func withService(_ options: [String] = [], _ body: (ServedPlace) async throws -> Void) async throws {
        let files = folder.exists("jobs.json") ? [folder.path("jobs.json")] : []
        let place = try await ServedPlace.start(
            options + ["--config", folder.path("config.json")] + files, in: folder)
        do {
            try await body(place)
        } catch {
            place.process.kill(SIGKILL)
            throw error
        }
        place.process.kill(SIGKILL)
        _ = try? await place.process.result()
    }

    /// Makes a program that appends its message to a file.
    private func program(_ name: String) throws -> String {
        _ = try folder.write("#!/bin/sh\ncat >> '\(folder.path(name)).told'\n", to: name)
        try FileManager.default.setAttributes([.posixPermissions: 0o755], ofItemAtPath: folder.path(name))
        return folder.path(name)
    }

    private func state(_ batch: String, _ place: ServedPlace) async throws -> [String: Any]? {
        let batches = try await place.ask("/api/v1/batches").json["batches"] as? [[String: Any]]
        return batches?.first { $0["name"] as? String == batch }
    }

    @Test func theServeSectionStandsForTheOptions() async throws {
        try configure(
            #""serve": {"secret": {"env": "SECRET"}, "allowPrivate": true, "allowOrigin": ["https://a.example"]}"#)
        try await withTestServer { server in
            server.serve("/a", .random(seed: 1, count: 10))
            try await withService { place in
                let answer = try await place.ask("/api/v1/jobs", json: job(server.url("/a"), to: "a"))
                #expect(answer.status == 201, "\(answer.text)")
                let page = try await place.ask("/api/v1/status", headers: ["Origin: https://a.example"])
                #expect(page.status == 200 && page.field("Access-Control-Allow-Origin") == "https://a.example")
                #expect(try await place.ask("/api/v1/status", headers: ["Origin: https://b.example"]).status == 403)
                #expect(!folder.exists("state/serve.secret"), "none was made")
            }
        }
    }

    @Test(arguments: [
        (#""serve": {"secret": "letmein-please"}"#, "a secret is named, never written"),
        (#""serve": {"listen": "0.0.0.0:1"}"#, "reverse proxy"), (#""serve": {"prot": 1}"#, "unknown key"),
    ]) func anInvalidConfigurationIsReportedAtTheStart(_ members: String, _ reason: String) async throws {
        try configure(members)
        let command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            [
                "--state", folder.path("state"), "-d", try folder.folder("files"), "--config",
                folder.path("config.json"),
            ],
            environment: ["PATH": "/usr/bin"], workingFolder: folder.path)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 65 && result.standardError.contains(reason), "\(result)")
    }

    @Test func jobFilesAreReadAgainAtASignal() async throws {
        try await withTestServer { server in
            for name in ["a", "b"] { server.serve("/\(name)", .random(seed: 1, count: 1000)) }
            try configure(#""serve": {"secret": {"env": "SECRET"}}"#)
            try jobs("\"name\": \"own\", \"jobs\": [\(job(server.url("/a"), to: "a"))]")
            try await withService { place in
                try await until("the first job is done") { try await state("own", place)?["done"] as? Int == 1 }
                try jobs(
                    "\"name\": \"own\", \"jobs\": [\(job(server.url("/a"), to: "a")), \(job(server.url("/b"), to: "b"))]"
                )
                place.process.kill(SIGHUP)
                try await until("the second one is, too") { try await state("own", place)?["done"] as? Int == 2 }
                #expect(folder.size("files/b") == 1000)
                // An error is reported, and nothing changes.
                try jobs("\"name\": \"own\", \"jobs\": [{}]")
                place.process.kill(SIGHUP)
                _ = try await place.process.line(.standardError) { $0.contains("continuing as before") }
                #expect(try await state("own", place)?["total"] as? Int == 2)
            }
        }
    }

    @Test func foldersAreWatchedAsTheFileSaysNow() async throws {
        try await withTestServer { server in
            let sink = server.acceptUploads("/in/*")
            try configure(#""serve": {"secret": {"env": "SECRET"}}"#)
            for name in ["one", "two"] { _ = try folder.folder(name) }
            func watch(_ name: String) -> String {
                "\"watch\": [{\"folder\": \"\(folder.path(name))\", \"to\": \"\(server.url("/in/"))\"}]"
            }
            try jobs(watch("one"))
            try await withService { place in
                _ = try folder.write("1", to: "one/a")
                try await until("it is uploaded") { sink.uploads.count == 1 }
                try jobs(watch("two"))
                place.process.kill(SIGHUP)
                _ = try await place.process.line(.standardError) { $0.contains("read again") }
                _ = try folder.write("22", to: "two/b")
                try await until("the other one is watched") { sink.uploads.count == 2 }
                _ = try folder.write("333", to: "one/c")
                _ = try folder.write("4444", to: "two/d")
                try await until("it goes on") { sink.uploads.count == 3 }
                #expect(Set(sink.uploads.map(\.count)) == [1, 2, 4])
            }
        }
    }

    @Test func commandsAndLimitsOfTheConfigurationHoldAndMayChange() async throws {
        try await withTestServer { server in
            for name in ["a", "b"] { server.serve("/\(name)", .random(seed: 1, count: 10)) }
            let serve = #""serve": {"secret": {"env": "SECRET"}, "allowPrivate": true}"#
            try configure(
                "\(serve), \"commands\": {\"tell\": [\"\(try program("first"))\"]}, \"limits\": {\"concurrency\": 3}")
            try jobs(
                "\"name\": \"own\", \"jobs\": [\(job(server.url("/a"), to: "a", #""onFinish": "tell""#))]")
            try await withService { place in
                try await until("the command was told") { folder.exists("first.told") }
                #expect(try await place.ask("/api/v1/limits").json["concurrency"] as? Int == 3)
                // A client may not name a command, known or not.
                let outside = try await place.ask(
                    "/api/v1/jobs", json: job(server.url("/a"), to: "x", #""onFinish": "tell""#))
                #expect(outside.status == 403 && outside.json["code"] as? String == "keyRefused", "\(outside.text)")
                try configure(
                    "\(serve), \"commands\": {\"tell\": [\"\(try program("second"))\"]}, \"limits\": {\"concurrency\": 5}"
                )
                try jobs(
                    "\"name\": \"own\", \"jobs\": [\(job(server.url("/b"), to: "b", #""onFinish": "tell""#))]")
                place.process.kill(SIGHUP)
                try await until("the new one was told") { folder.exists("second.told") }
                #expect(try await place.ask("/api/v1/limits").json["concurrency"] as? Int == 5)
            }
        }
    }

    @Test func anUnknownCommandIsReportedAtTheStart() async throws {
        try configure(#""serve": {}"#)
        try jobs("\"name\": \"own\", \"jobs\": [\(job("http://127.0.0.1:1/a", to: "a", #""onFinish": "tell""#))]")
        let command = ChildProcess.Command(
            try TransferCommand.builtProduct("transfer-server"),
            [
                "--listen", "127.0.0.1:0", "--state", folder.path("state"), "-d", try folder.folder("files"),
                "--config", folder.path("config.json"), folder.path("jobs.json"),
            ], environment: ["PATH": "/usr/bin"], workingFolder: folder.path)
        let result = try await ChildProcess.start(command).result()
        #expect(result.exitCode == 65 && result.standardError.contains("no command \"tell\" is known"), "\(result)")
    }
}
