import Foundation
import Testing
import TransferTestServer
import TransferTestSupport

/// The tasks of typical users, each solved from the documentation alone.
@Suite("Users' stories", .timeLimit(.minutes(2))) struct StoryTests {
    /// A data engineer has a list of URLs: one of a hundred is missing, and some answer 503 at first.
    @Test func aListWithFailuresIsCompleted() async throws {
        try await withTestServer { server in
            let story = try StoryScript("list", server)
            for index in 0..<300 where index % 100 != 7 { server.serve("/d/\(index).csv", .text("row \(index)")) }
            for index in [3, 50, 120] {
                server.script("/d/\(index).csv", [.status(503), .status(503)])
            }
            let urls = (0..<300).map { server.url("/d/\($0).csv") }.joined(separator: "\n")
            try story.place.folder.write(urls + "\n", to: "list.txt")
            let first = try await story.run(
                "transfer get -i list.txt -d data --retry 5 --retry-delay 0.05s --report report.jsonl")
            #expect(first.exitCode == 1, "some job failed for good: \(first)")
            #expect(first.standardError.contains("3  404 Not Found"), "\(first)")
            #expect(try story.place.folder.files().filter { $0.hasPrefix("data/") }.count == 297)
            let report = try story.place.folder.text("report.jsonl").split(separator: "\n")
            let failures = report.filter { $0.contains(#""event":"job.failed""#) }
            #expect(report.count == 300 && failures.count == 3)
            #expect(
                failures.allSatisfy { $0.contains(#""url":"\#(server.url("/d/"))"#) && $0.contains(#""status":404"#) })
            // The report suggests the command that lists them; the test runs it as it is printed.
            let hint = try #require(first.standardError.split(separator: "\n").first { $0.hasPrefix("List:") })
            let listed = try await story.succeed(String(hint.dropFirst("List:".count)))
            #expect(listed.standardOutput.contains("404 Not Found"), "\(listed)")
            let name = try await story.succeed("transfer status").standardOutput
            #expect(name.contains("get-list"), "\(name)")
            try await story.succeed("transfer status --failed --list > again.jsonl")
            // The server's owner has repaired all files except one.
            server.serve("/d/7.csv", .text("row 7"))
            server.serve("/d/107.csv", .text("row 107"))
            let second = try await story.run("mkdir elsewhere; cd elsewhere; transfer run ../again.jsonl")
            #expect(second.exitCode == 1, "\(second)")
            server.serve("/d/207.csv", .text("row 207"))
            try await story.succeed("cd elsewhere; transfer run ../again.jsonl")
            #expect(try story.place.folder.files().filter { $0.hasPrefix("data/") }.count == 300)
            #expect(try story.place.folder.text("data/207.csv") == "row 207")
            #expect(server.requests(to: "/d/1.csv").count == 1, "what was there is not fetched again")
        }
    }

    /// An administrator has five folders that devices write to, and one service that uploads new files.
    @Test func fiveFoldersAreWatchedByOneService() async throws {
        try await withTestServer { server in
            let story = try StoryScript("folders", server)
            let folder = story.place.folder
            for index in 1...5 { try folder.folder("dev\(index)") }
            let sink = server.acceptUploads("/in/*")
            let entries = (1...5).map { index in
                #"{ "folder": "dev\#(index)", "to": "\#(server.url("/in/"))dev\#(index)-{name}", "settle": "50ms", "then": "delete" }"#
            }
            try folder.write(
                #"{ "version": 1, "watch": [ \#(entries.joined(separator: ", ")) ] }"#, to: "devices.json")
            try await story.succeed("transfer validate devices.json")
            // The commands are those of the unit: ExecStart, and a reload by SIGHUP.
            let service = try story.place.command(["run", "devices.json", "--json", "--report", "ends.jsonl"]).start()
            for index in 1...5 { try folder.write("data \(index)", to: "dev\(index)/a.bin") }
            for index in 1...5 {
                try await service.event("watch.deleted") { $0["folder"]?.string?.hasSuffix("/dev\(index)") == true }
            }
            let status = try await story.succeed("transfer status")
            let lines = status.standardOutput.split(separator: "\n")
            #expect(lines.filter { $0.contains(" watching ") }.count == 5, "\(status)")
            #expect(lines.filter { $0.contains(": last upload 20") && $0.hasSuffix("; nothing waits") }.count == 5)
            service.kill(SIGTERM)
            let ended = try await service.result()
            #expect(ended.exitCode == 0, "\(ended)")
            #expect(sink.uploads.filter(\.isComplete).count == 5)
            // After a restart no file is sent again, and files that came meanwhile are sent.
            try folder.write("data 6", to: "dev3/b.bin")
            let again = try story.place.command(["run", "devices.json", "--json"]).start()
            try await again.event("watch.deleted")
            again.kill(SIGTERM)
            _ = try await again.result()
            #expect(sink.uploads.filter(\.isComplete).count == 6)
            #expect(!FileManager.default.fileExists(atPath: folder.path("dev3/b.bin")))
        }
    }

    /// A script of curl and wget is converted line by line.
    @Test func aScriptOfCurlAndWgetIsConverted() async throws {
        try await withTestServer { server in
            let story = try StoryScript("moved", server)
            let folder = story.place.folder
            server.serve("/x.iso", .text("image"))
            server.serve("/y.iso", .text("other"))
            server.handle("GET", "/private") { request in
                request.headers["Authorization"] == "Bearer t0ken"
                    ? Response(body: .text("mine")) : Response(status: 401)
            }
            let sink = server.acceptUploads("/in/*")
            try folder.write("report", to: "report.pdf")
            try folder.write("\(server.url("/x.iso"))\n\(server.url("/y.iso"))\n", to: "list.txt")
            // The original is curl -L -C - --retry 5 -o x.iso URL; options that are the default behaviour stay.
            try await story.succeed("transfer get -L -C - --retry 5 -o x.iso $SERVER/x.iso")
            // wget -c -P isos -i list.txt
            try await story.succeed("transfer get -c -d isos -i list.txt")
            // The original is curl -H 'Authorization: Bearer …' -o - URL, and the secret is not on the command line.
            let piped = try await story.succeed(
                "TOKEN='Bearer t0ken' transfer get -H 'Authorization: $TOKEN' -o - $SERVER/private | cat > piped")
            #expect(try folder.text("piped") == "mine", "\(piped)")
            // curl -T report.pdf URL
            try await story.succeed("transfer put report.pdf $SERVER/in/report.pdf")
            #expect(try folder.text("x.iso") == "image" && folder.text("isos/y.iso") == "other")
            #expect(sink.uploads(to: "/in/report.pdf").map { String(decoding: $0.bytes, as: UTF8.self) } == ["report"])
            // An unsupported option is answered with its equivalent, in a form to paste.
            let refused = try await story.run("transfer get -P isos $SERVER/x.iso")
            #expect(refused.exitCode == 64, "\(refused)")
            let hint = try #require(
                refused.standardError.split(separator: "\n").first { $0.hasPrefix("Here:") }, "\(refused)")
            try await story.succeed(String(hint.dropFirst("Here:".count)))
            #expect(!(try folder.files().contains { (try? folder.text($0).contains("t0ken")) == true }))
        }
    }
}
