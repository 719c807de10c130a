import Foundation
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport
import TransferWatch

@testable import TransferQueue

@Suite(.timeLimit(.minutes(1))) struct WatchedFolderTests {
    let folder: TemporaryFolder

    init() throws { folder = try TemporaryFolder("watched") }

    @Test func whatIsThereAndWhatComesIsUploadedOnceAlsoAfterARestart() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            let spec = try folder.watchSpec(server)
            try folder.write("one", to: "in/a.txt")
            try await withWatch(folder, spec) { _, watched, log in
                #expect(watched.batch == "watch:" + spec.folder)
                await log.wait(forConfirmed: "a.txt")
                try folder.write("two", to: "in/sub/b c.txt")
                await log.wait(forConfirmed: "sub/b c.txt")
                #expect(log.events.contains { if case .backlog(waiting: 1, kept: 0) = $0 { true } else { false } })
            }
            try folder.write("three", to: "in/c.txt")
            try await withWatch(folder, spec) { _, _, log in
                await log.wait(forConfirmed: "c.txt")
                await log.caughtUp()
                #expect(log.confirmed == ["c.txt"])
            }
            #expect(inbox.puts == ["a.txt": ["one"], "sub/b%20c.txt": ["two"], "c.txt": ["three"]])
        }
    }

    @Test func aFileIsUploadedAgainWhenItWasRewrittenAndNotWhenItWasTouched() async throws {
        try await withTestServer { server in
            let inbox = Inbox(server)
            try folder.write("one", to: "in/a")
            try await withWatch(folder, try folder.watchSpec(server)) { _, _, log in
                await log.wait(forConfirmed: "a")
                // The digest is noted once the upload is confirmed.
                try await folder.ledger("count(*)", "digest IS NULL", is: "0")
                try folder.touch("in/a", seconds: 1_000_000)
                try folder.write("x", to: "in/sentinel")
                await log.wait(forConfirmed: "sentinel")
                try await folder.ledger("modified", "path = 'a'", is: "1000000000000005")
                try folder.write("two", to: "in/a")
                await log.wait(forConfirmations: 3)
            }
            #expect(inbox.puts == ["a": ["one", "two"], "sentinel": ["x"]])
        }
    }
}
