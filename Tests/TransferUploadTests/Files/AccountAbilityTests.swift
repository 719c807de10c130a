import Testing
import TransferCore
import TransferTestServer

@testable import TransferUpload

/// Accounts with restricted permissions: a file and its next version get their name in a way that the account permits.
/// No hidden file is left behind.
@Suite struct AccountAbilityTests {
    /// One row of the table: the operations that a server refuses.
    struct Account: Sendable, CustomTestStringConvertible {
        var name: String
        var set: @Sendable (inout FileModel) -> Void
        var testDescription: String { name }

        static let all: [Account] = [
            Account(name: "everything") { _ in },
            Account(name: "everything, and a name that is taken refuses to be renamed over") { $0.replaces = false },
            Account(name: "no deletion") { $0.letsDelete = false },
            Account(name: "no deletion, no renaming over") { ($0.letsDelete, $0.replaces) = (false, false) },
            Account(name: "no renaming, no deletion") { $0.letsRename = false },
            Account(name: "no questions") { $0.looks = 403 },
            Account(name: "no questions, no deletion") { ($0.looks, $0.letsDelete) = (403, false) },
            Account(name: "storing alone") { ($0.looks, $0.letsRename, $0.letsRead) = (403, false, false) },
            Account(name: "no hidden names") { $0.letsHide = false },
            Account(name: "no hidden names, no deletion") { ($0.letsHide, $0.letsDelete) = (false, false) },
            Account(name: "renaming, no writing over") { $0.letsOverwrite = false },
        ]
    }

    private static let url = "sftp://server.test/in/f"

    private func story(
        _ server: FileModel, seed: UInt64, knowing abilities: AccountAbilities
    ) -> DialogueStory<FileModel> {
        let content = Content.random(seed: seed, count: 60).bytes()
        var story = DialogueStory(server, content) { source, state in
            FileServerUpload(url: Self.url, source: source, state: state, mark: "m\(seed)", abilities: abilities)
        }
        story.fileName = "f"
        return story
    }

    @Test(arguments: Account.all, [true, false])
    func theFileAndItsNextVersionArrive(_ account: Account, _ confirms: Bool) throws {
        var server = FileModel()
        server.confirms = confirms
        account.set(&server)
        var abilities = AccountAbilities()
        for version: UInt64 in [1, 2] {
            var story = story(server, seed: version, knowing: abilities)
            let outcome = try story.run()
            #expect(outcome.result != nil && outcome.error == nil, "version \(version): \(outcome.log)")
            #expect(story.service.files["/in/f"]?.bytes == story.content, "version \(version): \(outcome.log)")
            #expect(story.service.files.count == 1, "version \(version): \(story.service.files.keys)")
            server = story.service
            if let learned = outcome.abilities { abilities = learned }
        }
    }

    @Test func knownPermissionsAreNotProbedAgain() throws {
        var first = story(FileModel(), seed: 1, knowing: AccountAbilities())
        let known = try #require(try first.run().abilities)
        #expect(known.mayRename == true && known.mayDelete == true)
        var second = story(FileModel(), seed: 2, knowing: known)
        let requests = try second.run().requests
        var free = story(FileModel(), seed: 3, knowing: .all)
        #expect(try free.run().requests == requests)
    }

    @Test func anAccountThatMayNotRenameIsSentNoHiddenFile() throws {
        var server = FileModel()
        server.letsRename = false
        var story = story(server, seed: 1, knowing: AccountAbilities())
        let outcome = try story.run()
        #expect(!outcome.log.contains { $0.hasPrefix("PUT") && $0.hasSuffix(".part") }, "\(outcome.log)")
        #expect(outcome.restarts == [])
    }

    @Test func aFileRefusedUnderBothNamesFailsWithTheServersMessage() throws {
        var server = FileModel()
        (server.letsHide, server.letsOverwrite) = (false, false)
        server.files["/in/f"] = FileModel.File(bytes: [1], modified: 1)
        var story = story(server, seed: 1, knowing: .all)
        let outcome = try story.run()
        #expect(outcome.error?.status == 403 && outcome.error?.message.contains("does not take the file") == true)
        #expect(story.service.files.count == 1)
    }

    @Test func aCopyKeepsTheTimeOfItsSource() throws {
        for abilities in [AccountAbilities.all, AccountAbilities(mayHide: false)] {
            var story = DialogueStory(FileModel(), [1, 2, 3]) { source, state in
                var source = source
                source.labels = RepresentationLabels(modified: 784_111_777)
                return FileServerUpload(url: Self.url, source: source, state: state, mark: "m", abilities: abilities)
            }
            #expect(try story.run().result != nil)
            #expect(story.service.times["/in/f"] == "Sun, 06 Nov 1994 08:49:37 GMT")
        }
    }
}
