import Foundation
import Testing
import TransferTestSupport

/// Invalid command lines of `transfer watch`: exit status 64 and a message.
@Suite struct WatchUsageTests {
    static let wrong: [([String], String)] = [
        ([], "Missing expected argument '<dir>'"),
        (["out"], "Missing expected argument '--to <url>'"),
        (["", "--to", "http://a.example/"], "name a folder"),
        (["out", "--to", "gopher://a.example/"], "unsupported URL gopher://a.example/"),
        (["out", "--to", "http://a.example/{file}"], "--to: {file} stands for nothing; known are {name}, {path}"),
        (["out", "--to", "http://a.example/{name"], "--to: a brace is not closed"),
        (["out", "--to", "http://a.example/{name}", "--recursive"], "--to: files of one name in two folders"),
        (["out", "--to", "http://a.example/", "--include", "[a"], "'[a' is invalid"),
        (["out", "--to", "http://a.example/", "--then", "forget"], "'forget' is invalid"),
        (["out", "--to", "http://a.example/", "--then", "move"], "'move' is invalid"),
        (["out", "--to", "http://a.example/", "--then", "move", "./out"], "--then: files cannot be moved to where"),
        (
            ["out", "--to", "http://a.example/", "--recursive", "--then", "move", "out/done"],
            "--then: files cannot be moved to where they are watched, which is in sub-folders too"
        ),
        (["out", "--to", "http://a.example/", "--keep-for", "7d"], "--keep-for: files that are kept stay for good"),
        (["out", "--to", "http://a.example/", "--deadline", "1m"], "--deadline goes with --once"),
        (["out", "--to", "http://a.example/", "--once", "--deadline", "0"], "'0' is invalid"),
        (["out", "--to", "http://a.example/", "--settle", "0"], "'0' is invalid"),
        (["out", "--to", "http://a.example/", "--settle", "99999999d"], "'99999999d' is invalid"),
        (["out", "--to", "http://a.example/", "--header", "content-length: 3"], "says where a body ends"),
        (["out", "--to", "http://a.example/", "--order", "largest"], "'largest' is invalid"),
        (["out", "--to", "http://a.example/", "--protocol", "pigeon"], "'pigeon' is invalid"),
        (["out", "--to", "s3://bucket/", "--protocol", "put"], "s3"),
        (
            ["out", "--to", "http://a.example/", "--parallel", "65"],
            "'65' is invalid for '--parallel <n>': it takes a whole number from 1 to 64"
        ),
        (["out", "--to", "http://a.example/", "--header", "Authorization: x"], "is a secret"),
        (["out", "in", "--to", "http://a.example/"], "Unexpected argument 'in'"),
    ]

    @Test(arguments: wrong) func invalidUsageEndsWithStatus64(_ arguments: [String], _ message: String) async throws {
        let place = try Workplace()
        let result = try await place.command(["watch"] + arguments).run()
        #expect(result.exitCode == 64, "\(result)")
        #expect(result.standardError.contains(message), "\(result)")
        #expect(result.standardOutput.isEmpty)
        #expect(try place.traces() == [], "not even the state folder is made")
    }

    @Test func standardInputWatchesNothing() async throws {
        let place = try Workplace()
        var command = place.command(["run", "-", "--name", "x"])
        command.standardInput = .data(
            Data(#"{"version": 1, "watch": [{"folder": "out", "to": "http://h/"}]}"#.utf8 + [10]))
        let result = try await command.run()
        #expect(result.exitCode == 1, "\(result)")
        #expect(result.standardError.contains("folders are watched by a job file, not by standard input"), "\(result)")
    }
}
