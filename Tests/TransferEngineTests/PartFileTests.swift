import CTransferLinux
import Glibc
import Testing
import TransferCore
import TransferTestServer
import TransferTestSupport

@testable import TransferEngine

@Suite(.timeLimit(.minutes(1))) struct PartFileTests {
    private func record(_ path: String, synced: Int64 = 0, boot: String = BootID.current, etag: String = "\"a\"")
        -> ResumeData
    {
        ResumeData(
            url: "http://a.example/x", validator: Validator(etag: etag, lastModified: "d", isDateStrong: true),
            total: 1000,
            written: ByteRanges(0..<500), synced: ByteRanges(0..<synced), bootID: boot, partialFile: path)
    }

    private func fill(_ part: PartFile, _ count: Int) {
        let bytes = [UInt8](repeating: 7, count: count)
        #expect(pwrite(part.descriptor, bytes, count, 0) == count)
    }

    @Test func aSecondOpenIsRefusedWhileTheFirstHoldsTheLock() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        do {
            let part = try PartFile.open(path)
            let error = #expect(throws: TransferError.self) { try PartFile.open(path) }
            #expect(error?.code == .fileLocked && error?.isTransient == true)
            part.unlock()
            let second = try PartFile.open(path)
            #expect(throws: TransferError.self) { try PartFile.open(path) }
            withExtendedLifetime((part, second)) {}
        }
        #expect(throws: Never.self) { try PartFile.open(path) }
    }

    /// Each child process has the descriptor between fork(2) and exec(2).
    @Test func theLockIsReleasedAlsoIfAnotherProcessHasTheDescriptor() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        var part: PartFile? = try PartFile.open(path)
        let other = fcntl(try #require(part?.descriptor), F_DUPFD_CLOEXEC, 0)
        defer { close(other) }
        try #require(other >= 0)
        #expect(throws: TransferError.self) { try PartFile.open(path) }
        part = nil
        #expect(throws: Never.self) { try PartFile.open(path) }
    }

    @Test func theRecordGoesWithTheBytes() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        let written = record(path, synced: 300)
        do {
            let part = try PartFile.open(path)
            #expect(part.initialSize == 0 && part.initialRecord == nil)
            fill(part, 500)
            try #require(part.record(written), "the temporary folder's file system keeps no extended attributes")
        }
        let part = try PartFile.open(path)
        #expect(part.initialSize == 500 && part.initialRecord == written)
        try part.sync()
        try part.rename(to: folder.path("y"), replacing: false)
        let stamp = try part.facts()
        #expect(FileNote.read(folder.path("missing"), stamp, from: written.url) == nil)
    }

    @Test func givingUpTheBytesGivesUpTheirRecord() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        do {
            let part = try PartFile.open(path)
            fill(part, 500)
            part.record(record(path))
            try part.truncate()
            // The worker was slower than the new start.
            #expect(!part.record(record(path), generation: 0))
            fill(part, 10)
        }
        let part = try PartFile.open(path)
        #expect(part.initialSize == 10 && part.initialRecord == nil)
    }

    @Test func anEmptyFileHasNoRecord() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        do { try PartFile.open(path).record(record(path)) }
        #expect(try PartFile.open(path).initialRecord == nil)
    }

    /// A worker that syncs writes its record after the sync.
    @Test func aPendingRecordIsNotWrittenAfterTheLastOne() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        do {
            let part = try PartFile.open(path)
            fill(part, 500)
            let earlier = part.currentGeneration
            #expect(part.record(record(path, synced: 100), generation: earlier))
            #expect(part.record(record(path, synced: 500)))
            #expect(!part.record(record(path, synced: 200), generation: earlier))
        }
        #expect(try PartFile.open(path).initialRecord?.synced == ByteRanges(0..<500))
    }

    /// The allocation of blocks changes the modification time, which a finished file has from its server.
    @Test func aPendingReservationDoesNotTouchAFinishedFile() throws {
        let folder = try TemporaryFolder("part")
        let part = try PartFile.open(folder.path("x.part"))
        fill(part, 500)
        let earlier = part.currentGeneration
        part.settle()
        part.setModificationTime(1_000_000_000)
        try part.reserve(1 << 20, generation: earlier)
        #expect(try part.facts().modified == 1_000_000_000_000_000_000)
        var status = stat()
        #expect(fstat(part.descriptor, &status) == 0 && status.st_blocks * 512 < 1 << 20)
    }

    @Test(arguments: ["", "{", "[]", "null", "{\"url\":1}"])
    func aDamagedRecordIsNone(_ text: String) throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        do {
            let part = try PartFile.open(path)
            fill(part, 10)
            #expect(fsetxattr(part.descriptor, "user.transferkit.resume", text, text.utf8.count, 0) == 0)
        }
        #expect(try PartFile.open(path).initialRecord == nil)
    }

    /// After a reboot, or after a disk was mounted again.
    @Test func onAnotherMountOnlyDurableBytesCount() throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        let here = try PartFile.open(folder.path("y.part")).mount
        for (mount, trusted) in [(here, here == nil ? Int64(300) : 500), ("another", 300), (nil, 300)]
            as [(String?, Int64)]
        {
            do {
                let part = try PartFile.open(path)
                fill(part, 500)
                var record = self.record(path, synced: 300)
                record.mount = mount
                part.record(record)
            }
            let part = try PartFile.open(path)
            let known = try #require(part.initialRecord)
            #expect(part.trustedLength(known) == trusted)
        }
        #expect(BootID.current.count == 36)
    }

    @Test func aNameThatIsTakenIsNotReplaced() throws {
        let folder = try TemporaryFolder("part")
        try folder.write("mine", to: "y")
        let part = try PartFile.open(folder.path("y.part"))
        fill(part, 3)
        let error = #expect(throws: TransferError.self) { try part.rename(to: folder.path("y"), replacing: false) }
        #expect(error?.code == .fileExists)
        #expect(try folder.text("y") == "mine" && folder.exists("y.part"))
        try part.rename(to: folder.path("y"), replacing: true)
        #expect(folder.size("y") == 3 && !folder.exists("y.part"))
    }

    /// The mode of the replaced file, and the mode of the new one. Bits beyond access rights are not taken over.
    @Test(arguments: [(0o600, 0o600), (0o640, 0o640), (0o444, 0o444), (0o666, 0o666), (0o755, 0o755), (0o4711, 0o711)])
    func aFileThatReplacesAnotherGetsItsMode(_ old: mode_t, _ new: mode_t) throws {
        let folder = try TemporaryFolder("part")
        try folder.write("mine", to: "y")
        #expect(chmod(folder.path("y"), old) == 0)
        let part = try PartFile.open(folder.path("y.part"))
        fill(part, 3)
        try part.rename(to: folder.path("y"), replacing: true)
        var status = stat()
        #expect(lstat(folder.path("y"), &status) == 0 && status.st_mode & 0o7777 == new)
        #expect(folder.size("y") == 3)
    }

    @Test func aSuccessorOfAPrivateFileIsPrivateWhileItIsWritten() throws {
        let folder = try TemporaryFolder("part")
        try folder.write("mine", to: "y")
        #expect(chmod(folder.path("y"), 0o400) == 0)
        let part = try PartFile.open(folder.path("y.part"))
        part.restrictAccess(like: folder.path("y"))
        var status = stat()
        #expect(lstat(folder.path("y.part"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
        // Nothing is known of a file that is not there.
        part.restrictAccess(like: folder.path("z"))
        #expect(lstat(folder.path("y.part"), &status) == 0 && status.st_mode & 0o7777 == 0o600)
    }

    @Test func aRefusedNamingNamesBothFilesInTheirOrder() {
        let busy = TransferError.renaming("/d/f.part", to: "/d/f", EBUSY)
        #expect(
            busy.message.hasPrefix("cannot rename /d/f.part to /d/f: device or resource busy; something is mounted"))
        let denied = TransferError.renaming("/d/f.part", to: "/d/f", EPERM)
        #expect(denied.message == "cannot rename /d/f.part to /d/f: operation not permitted" && denied.errno == EPERM)
    }

    /// A link is only a name here: its target stays as it is, and is no model for the new file.
    @Test func aLinkThatIsReplacedGivesNoMode() throws {
        let folder = try TemporaryFolder("part")
        try folder.write("mine", to: "target")
        #expect(chmod(folder.path("target"), 0o777) == 0)
        #expect(symlink(folder.path("target"), folder.path("y")) == 0)
        let part = try PartFile.open(folder.path("y.part"))
        fill(part, 3)
        try part.rename(to: folder.path("y"), replacing: true)
        var status = stat()
        #expect(lstat(folder.path("y"), &status) == 0 && status.st_mode & S_IFMT == S_IFREG)
        #expect(status.st_mode & 0o111 == 0)
        #expect(try folder.text("target") == "mine")
    }

    @Test func theLockIsOnTheFileThatBearsTheName() throws {
        // The first writer finishes and renames the file between the open and the lock of the second writer. The name
        // then belongs to another file, on which the lock must be.
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        let first = try PartFile.open(path)
        fill(first, 5)
        try first.rename(to: folder.path("x"), replacing: false)
        let second = try PartFile.open(path)
        #expect(second.initialSize == 0)
        fill(second, 2)
        #expect(folder.size("x") == 5 && folder.size("x.part") == 2)
        withExtendedLifetime(first) {}
    }

    @Test func manyWritersNeverShareAFile() async throws {
        let folder = try TemporaryFolder("part")
        let path = folder.path("x.part")
        await withTaskGroup(of: Void.self) { group in
            for writer in 0..<4 {
                group.addTask {
                    for round in 0..<50 {
                        guard let part = try? PartFile.open(path) else {
                            await Task.yield()
                            continue
                        }
                        #expect(part.initialSize == 0, "somebody else is writing here")
                        let bytes = [UInt8](repeating: UInt8(writer), count: 3)
                        _ = pwrite(part.descriptor, bytes, 3, 0)
                        try? part.rename(to: folder.path("done-\(writer)-\(round)"), replacing: false)
                    }
                }
            }
        }
        for name in try folder.files() where name.hasPrefix("done") { #expect(folder.size(name) == 3) }
    }

    @Test func symbolicLinksAndFoldersAreRefused() throws {
        let folder = try TemporaryFolder("part")
        try folder.write("victim", to: "victim")
        symlink(folder.path("victim"), folder.path("x.part"))
        #expect(throws: TransferError.self) { try PartFile.open(folder.path("x.part")) }
        #expect(try folder.text("victim") == "victim")
        try folder.folder("d")
        #expect(throws: TransferError.self) { try PartFile.open(folder.path("d")) }
        let error = #expect(throws: TransferError.self) { try PartFile.open(folder.path("missing/x.part")) }
        #expect(error?.code == .fileMissing && error?.errno == ENOENT)
    }

    /// The mark identifies our file although the process was killed before its first record.
    @Test func aFileWithoutARecordIsOursByItsMark() throws {
        let folder = try TemporaryFolder("part")
        do { fill(try PartFile.open(folder.path("x.part")), 10) }
        let part = try PartFile.open(folder.path("x.part"))
        #expect(part.initialSize == 10 && part.initialRecord == nil && !part.isClaimed)
    }

    @Test func anotherUsersFileIsOursOnlyByItsRecordedInode() throws {
        let folder = try TemporaryFolder("part")
        let path = try folder.write("notes", to: "x.part")
        var status = stat()
        try #require(stat(path, &status) == 0)
        let inode = UInt64(status.st_ino)
        for claim in [PartOwnership.Claim.none, .inode(inode + 1)] {
            let error = #expect(throws: TransferError.self) { try PartFile.open(path, claim: claim) }
            #expect(error?.code == .partNotOurs)
        }
        #expect(try folder.text("x.part") == "notes")
        #expect(try PartFile.open(path, claim: .inode(inode)).isClaimed)
    }

    @Test(arguments: [false, true]) func aNameThatAnotherFileTookIsNotGivenAway(_ replacing: Bool) throws {
        let folder = try TemporaryFolder("part")
        let part = try PartFile.open(folder.path("x.part"))
        fill(part, 5)
        try #require(Glibc.rename(folder.path("x.part"), folder.path("moved")) == 0)
        try folder.write("evil", to: "x.part")
        let error = #expect(throws: TransferError.self) { try part.rename(to: folder.path("x"), replacing: replacing) }
        #expect(error?.code == .partNotOurs && error?.isTransient == true)
        part.remove()
        #expect(try folder.text("x.part") == "evil" && !folder.exists("x"))
    }

    @Test(arguments: [false, true]) func aFileThatGotASecondNameIsNotFinished(_ replacing: Bool) throws {
        let folder = try TemporaryFolder("part")
        let part = try PartFile.open(folder.path("x.part"))
        fill(part, 5)
        try #require(link(folder.path("x.part"), folder.path("theirs")) == 0)
        let error = #expect(throws: TransferError.self) { try part.rename(to: folder.path("x"), replacing: replacing) }
        #expect(error?.code == .partNotOurs && error?.isTransient == true)
        #expect(!folder.exists("x"))
    }

    @Test func reservedBlocksDoNotCountAsBytes() throws {
        let folder = try TemporaryFolder("part")
        let part = try PartFile.open(folder.path("x.part"))
        try part.reserve(4 << 20, generation: part.currentGeneration)
        #expect(folder.size("x.part") == 0)
        fill(part, 10)
        part.trimReservation()
        #expect(folder.size("x.part") == 10)
        #expect(
            #expect(throws: TransferError.self) { try part.reserve(1 << 60, generation: part.currentGeneration) }.map {
                [.diskFull, .fileAccess].contains($0.code)
            } == true)
        part.setModificationTime(1_700_000_000)
        #expect(FileStamp(size: 10, modified: 1_700_000_000_000_000_000).isSameVersion(as: try part.facts()))
    }

    @Test func theRecordOfAnOldDownloadSaysWhatCanBeContinued() async throws {
        try await Bench.with { bench async throws in
            bench.server.serve("/x", ServedFile(.random(seed: 1, count: 700_000), etag: "\"a\""))
            bench.server.script("/x", [.cut(after: 300_000)])
            // The process is killed, so nothing is recorded at the end.
            let attempt = try bench.start()
            _ = try await attempt.end()
            let part = try PartFile.open(bench.file)
            let known = try #require(part.initialRecord)
            #expect(known.validator?.etag == "\"a\"" && known.total == 700_000 && known.url == bench.server.url("/x"))
            #expect(part.trustedLength(known) == (part.mount == nil ? 0 : 300_000))
            #expect(known.trustedLength(onMount: "another", fileSize: part.initialSize) == 0)
        }
    }
}
