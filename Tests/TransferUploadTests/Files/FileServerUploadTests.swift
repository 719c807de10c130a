import Testing
import TransferCore

@testable import TransferUpload

/// An upload to a file server, request by request.
@Suite struct FileServerUploadTests {
    private let source = UploadSource(name: "f", size: 100)

    private func script(
        _ url: String = "ftp://h/in/f", state: UploadState? = nil, source: UploadSource? = nil
    ) -> DialogueScript<FileServerUpload> {
        DialogueScript(FileServerUpload(url: url, source: source ?? self.source, state: state, mark: "m1"))
    }

    private static let advice =
        " where renaming is not permitted, \"inplace\": true sends the file under its own name"

    /// Returns the state of an upload that was cut after so many bytes.
    private func kept() throws -> UploadState {
        var script = script()
        script.lose(sent: 40)
        return try script.kept()
    }

    @Test func aNewUploadIsSentLookedUpAndRenamed() throws {
        var script = script()
        #expect(script.request?.method == "PUT" && script.request?.url == "ftp://h/in/.f.m1.part")
        #expect(script.request?.body == .source(0..<100))
        // The state is saved before the first byte is sent.
        guard case .save? = script.actions.first else { return #expect(Bool(false), "\(script.actions)") }
        script.answer(201)
        #expect(script.request?.method == "HEAD" && script.request?.url == "ftp://h/in/.f.m1.part")
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"100-7\"")])
        #expect(script.confirmed == 100 && script.request?.method == "MOVE")
        #expect(script.request?.url == "ftp://h/in/.f.m1.part")
        #expect(script.request?.headers == [HeaderField("Destination", "ftp://h/in/f")])
        script.answer(201)
        #expect(script.result == UploadResult(url: "ftp://h/in/f", status: 201, validator: "\"100-7\""))
    }

    @Test func afterABreakOnlyTheRestIsSent() throws {
        var script = script(state: try kept())
        #expect(script.requests.map(\.method) == ["HEAD"])
        script.answer(200, [("Content-Length", "40")])
        #expect(script.confirmed == 40 && script.restart == nil)
        #expect(script.request?.method == "PATCH" && script.request?.body == .source(40..<100))
        #expect(script.request?.headers == [HeaderField("Upload-Offset", "40")])
        script.answer(204, [("Upload-Offset", "100")])
        #expect(script.request?.method == "HEAD")
    }

    @Test func aChangedLengthIsLookedUpAndResumedFrom() throws {
        var script = script(state: try kept())
        script.answer(200, [("Content-Length", "40")])
        script.answer(409, [("Upload-Offset", "60")])
        #expect(script.request?.method == "HEAD")
        script.answer(200, [("Content-Length", "60")])
        #expect(script.confirmed == 60 && script.request?.body == .source(60..<100))
        script.answer(409, [("Upload-Offset", "100")])
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"100-7\"")])
        #expect(script.confirmed == 100 && script.request?.method == "MOVE")
        // A server that always changes its answer is asked again in a later attempt.
        var other = self.script(state: try kept())
        other.answer(200, [("Content-Length", "40")])
        for offset in [41, 42, 43] {
            other.answer(409, [("Upload-Offset", "\(offset)")])
            other.answer(200, [("Content-Length", "\(offset)")])
        }
        #expect(other.failure == nil)
        other.answer(409, [("Upload-Offset", "44")])
        #expect(other.failure?.isTransient == true)
    }

    // MARK: The last bytes after a break

    private static let sftp = "sftp://h/in/f"
    private let ours = Checksum(.sha256, hex: String(repeating: "0a", count: 32))
    private let others = Checksum(.sha256, hex: String(repeating: "0b", count: 32))

    /// Returns an upload that was cut in the middle, after the look-up of its stored size.
    private func lookedAt(_ size: Int64, of source: UploadSource) throws -> DialogueScript<FileServerUpload> {
        var broken = script(Self.sftp, source: source)
        broken.lose(sent: 40)
        var script = script(Self.sftp, state: try broken.kept(), source: source)
        script.answer(200, [("Content-Length", "\(size)"), ("ETag", "\"\(size)-7\"")])
        return script
    }

    /// WRITE requests overlap: the end of the stored bytes is compared, and the upload resumes only if they match the
    /// source.
    @Test(arguments: [(40, 0, nil, 200), (3 << 20, 2 << 20, "bytes=2097152-", 206)] as [(Int64, Int64, String?, Int)])
    func afterABreakTheLastBytesOfSFTPAreCompared(
        _ size: Int64, _ start: Int64, _ range: String?, _ status: Int
    ) throws {
        let source = UploadSource(name: "f", size: 4 << 20)
        for isOurs in [true, false] {
            var script = try lookedAt(size, of: source)
            guard case .digest(let id, .sha256, start..<size)? = script.actions.last else {
                return #expect(Bool(false), "\(script.actions)")
            }
            script.digest(id, try #require(ours))
            #expect(script.request?.method == "GET" && script.request?.digests == .sha256)
            #expect(script.request?.headers.first?.value == range)
            script.answer(status, digest: isOurs ? ours : others)
            if isOurs {
                #expect(script.confirmed == size && script.request?.method == "PATCH")
                #expect(script.request?.body == .source(size..<source.size) && script.restart == nil)
            } else {
                #expect(script.request?.method == "DELETE")
                script.answer(204)
                #expect(script.restart == "what the server has of the file ends with other bytes")
                #expect(script.request?.method == "PUT" && script.request?.body == .source(0..<source.size))
            }
        }
    }

    /// The length alone is no proof: the server may have refused a WRITE in the middle.
    @Test func aFileOfTheWholeLengthIsComparedBeforeItHasItsName() throws {
        var script = try lookedAt(100, of: source)
        script.digest(1, try #require(ours))
        #expect(script.request?.method == "GET")
        script.answer(200, digest: ours)
        #expect(script.confirmed == 100 && script.request?.method == "MOVE")
        var hole = try lookedAt(100, of: source)
        hole.digest(1, try #require(ours))
        hole.answer(200, digest: others)
        #expect(hole.request?.method == "DELETE")
    }

    @Test(arguments: [(403, "DELETE"), (404, "PUT"), (503, nil), (206, nil), (416, nil)] as [(Int, String?)])
    func withoutReadPermissionTheUploadRestarts(_ status: Int, _ next: String?) throws {
        var script = try lookedAt(40, of: source)
        script.digest(1, try #require(ours))
        script.answer(status, digest: ours)
        if let next {
            #expect(script.request?.method == next && script.failure == nil)
        } else {
            #expect(script.failure?.isTransient == true)
        }
    }

    @Test func anEmptyPartIsNotCompared() throws {
        let script = try lookedAt(0, of: source)
        #expect(script.request?.method == "PUT")
    }

    @Test(arguments: ["h answered 502 APPE not implemented", "h answered 504 not for that parameter"])
    func aServerThatCantAppendGetsTheWholeAgain(_ words: String) throws {
        var script = script(state: try kept())
        script.answer(200, [("Content-Length", "40")])
        let request = try #require(script.request)
        let refused = UploadEvent.failed(request: request.id, TransferError(.badResponse, words), sent: 0)
        script.hear(script.dialogue.handle(refused, now: 0))
        #expect(script.request?.method == "DELETE" && script.request?.url == "ftp://h/in/.f.m1.part")
        script.answer(204)
        #expect(script.restart == "the server cannot continue a file (\(words))")
        #expect(script.request?.method == "PUT" && script.request?.url == "ftp://h/in/.f.m1-1.part")
        // The mismatch is remembered: the next break restarts the upload at once.
        script.lose(sent: 50)
        var next = self.script(state: try script.kept())
        next.answer(200, [("Content-Length", "50")])
        #expect(next.request?.method == "DELETE")
        next.answer(404)
        #expect(next.restart == "the server cannot continue a file")
        #expect(next.request?.url == "ftp://h/in/.f.m1-2.part")
    }

    @Test func aFileThatBlocksTheRenameIsRemoved() throws {
        var script = script()
        script.answer(201)
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"a\"")])
        script.answer(409)
        #expect(script.request?.method == "DELETE" && script.request?.url == "ftp://h/in/f")
        script.answer(204)
        #expect(script.request?.method == "MOVE")
        // The removal happens once: another client wants the same name too.
        script.answer(409, [("Server-Reply", "there is a file of that name")])
        #expect(
            script.failure?.message
                == "the server does not give the file its name (there is a file of that name); a folder of that name would be in its way;"
                + Self.advice)
    }

    /// Without times, an old file of the same length would be taken for the new one after a lost last answer.
    @Test(arguments: [(200, "100", true), (200, "99", false), (404, "0", false)])
    func withoutTimesAnOldFileOfTheSameLengthIsRemovedFirst(
        _ status: Int, _ length: String, _ givesWay: Bool
    ) {
        var script = script()
        script.answer(201)
        script.answer(200, [("Content-Length", "100")])
        #expect(script.request?.method == "HEAD" && script.request?.url == "ftp://h/in/f")
        script.answer(status, [("Content-Length", length)])
        if givesWay {
            #expect(script.requests.map(\.method) == ["DELETE"] && script.request?.url == "ftp://h/in/f")
            script.answer(204)
        }
        #expect(script.request?.method == "MOVE")
        script.answer(201)
        #expect(script.result != nil)
    }

    @Test func aSourceOfAnotherKindNeverContinuesThisOne() throws {
        let state = try kept()
        for (source, url, reason) in [
            (UploadSource(name: "f", size: 101), "ftp://h/in/f", "the file has 101 bytes now, not 100"),
            (UploadSource(name: "f", size: 100), "ftp://h/in/g", "the upload goes to another URL now"),
        ] {
            var script = script(url, state: state, source: source)
            #expect(script.request?.method == "DELETE" && script.request?.url == "ftp://h/in/.f.m1.part")
            script.answer(204)
            #expect(script.restart == reason)
            #expect(script.request?.body == .source(0..<source.size) && script.request?.method == "PUT")
        }
        // Another server receives no request about the former one.
        let moved = script("ftp://i/in/f", state: state)
        #expect(moved.restart == "the upload goes to another URL now")
        #expect(moved.request?.method == "PUT" && moved.request?.url == "ftp://i/in/.f.m1-1.part")
        let a = try #require(Checksum("md5:d41d8cd98f00b204e9800998ecf8427e"))
        let b = try #require(Checksum("md5:d41d8cd98f00b204e9800998ecf8427f"))
        var script = script(source: UploadSource(name: "f", size: 100, digest: a))
        script.lose(sent: 1)
        var next = self.script(state: try script.kept(), source: UploadSource(name: "f", size: 100, digest: b))
        next.answer(204)
        #expect(next.restart == "the file has changed")
    }

    @Test(
        arguments: [
            (
                409, "550 No such file",
                "the folder is not there (550 No such file); \"createFolders\": true makes it"
            ),
            (403, "553 Could not create", "the server does not take the file (553 Could not create)"),
            (507, "552 full", "the server does not take the file (552 full)"),
        ])
    func aRefusedFileFailsWithTheServersMessage(_ status: Int, _ words: String, _ message: String) {
        var script = script()
        script.answer(status, [("Server-Reply", words)])
        #expect(script.failure?.message == message && script.failure?.status == status)
        #expect(script.failure?.isTransient == false)
    }

    @Test func aPartMissingAtTheRenameMayHaveItsName() throws {
        var script = script()
        script.answer(201)
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"a\"")])
        script.answer(404)
        #expect(script.request?.method == "HEAD" && script.request?.url == "ftp://h/in/.f.m1.part")
        script.answer(404)
        #expect(script.request?.method == "HEAD" && script.request?.url == "ftp://h/in/f")
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"a\"")])
        #expect(script.result?.validator == "\"a\"")
    }

    /// The 550 of FTP may have that meaning too, so the file is not sent again.
    @Test func aFailedRenameKeepsThePartForTheNextAttempt() throws {
        var script = script()
        script.answer(201)
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"a\"")])
        script.answer(404, [("Server-Reply", "550 Rename failed.")])
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"a\"")])
        #expect(
            script.failure?.message
                == "the server does not give the file its name (550 Rename failed.); a folder of that name would be in "
                + "its way;" + Self.advice)
        #expect(script.failure?.isTransient == false)
        var next = self.script(state: try script.kept())
        next.answer(200, [("Content-Length", "100"), ("ETag", "\"a\"")])
        #expect(next.request?.method == "MOVE")
    }

    @Test(arguments: [
        ("ftp://h/f", "ftp://h/.f.m1.part"), ("sftp://h:22/~/a%20b", "sftp://h:22/~/.a%20b.m1.part"),
        ("ftp://h/%2Fsrv/f?x/y", "ftp://h/%2Fsrv/f?x/.y.m1.part"), ("ftp://h/f#x", "ftp://h/.f.m1.part"),
        ("sftp://ann:pw@h/f", "sftp://h/.f.m1.part"),
    ])
    func thePartIsBesideTheDestination(_ url: String, _ part: String) {
        #expect(script(url).request?.url == part)
    }

    @Test func aLongNameIsNotMadeLonger() {
        let name = String(repeating: "n", count: 201)
        #expect(script("ftp://h/in/\(name)").request?.url == "ftp://h/in/.m1.part")
    }

    @Test(arguments: ["ftp://h/", "ftp://h", "ftp://h/in/"]) func aFolderIsNotAcceptedAsAFile(_ url: String) {
        #expect(script(url).failure?.code == .badURL)
    }

    @Test func aStateOfAnotherProtocolBeginsAnew() {
        for state: UploadState in ["{}", "put:17", "", #"{"version":1,"part":"http://h/x"}"#] {
            #expect(script(state: state).requests.map(\.method) == ["PUT"])
        }
    }

    @Test func nothingOfASecretIsKept() throws {
        let script = script("ftp://ann:hush@h/in/f")
        #expect(try !script.kept().contains("hush"))
    }

    // MARK: Small files

    /// The answer reported the length, so no look-up follows. The bytes prove the file if the last answer is lost.
    private func stored(_ url: String = "ftp://h/in/f") throws -> DialogueScript<FileServerUpload> {
        var script = script(url)
        #expect(script.request?.headers == [HeaderField("Prefer", "return=representation")])
        script.answer(201, [("Server-Length", "100")])
        #expect(script.confirmed == 100 && script.request?.method == "MOVE")
        return script
    }

    @Test(arguments: ["ftp://h/in/f", "sftp://h/in/f"]) func aSmallFileIsStoredAndRenamed(_ url: String) throws {
        var script = try stored(url)
        script.answer(201)
        #expect(script.result?.status == 201 && script.requests.isEmpty)
    }

    @Test(arguments: ["99", "101"]) func aFileOfAnotherLengthIsNotRenamed(_ length: String) {
        var script = script()
        script.answer(201, [("Server-Length", length)])
        #expect(script.request?.method != "MOVE")
    }

    /// A large file is recognised by its entity tag, so it is looked up.
    @Test func aLargeFileIsLookedUp() {
        let size = FileServerUpload.smallSize + 1
        var script = script(source: UploadSource(name: "f", size: size))
        #expect(script.request?.headers == [])
        script.answer(201, [("Server-Length", "\(size)")])
        #expect(script.request?.method == "HEAD")
    }

    /// The answer to the rename was lost: an old file of the same length is not taken for the new one.
    @Test(arguments: [(200, true, 0), (200, false, 1), (403, true, 1), (503, true, 2)])
    func theBytesProveASmallFileAfterALostRename(_ status: Int, _ isOurs: Bool, _ outcome: Int) throws {
        var broken = try stored()
        broken.lose()
        var script = script(state: try broken.kept())
        script.answer(404)
        #expect(script.request?.method == "HEAD" && script.request?.url == "ftp://h/in/f")
        script.answer(200, [("Content-Length", "100"), ("ETag", "\"100-7\"")])
        guard case .digest(let id, .sha256, 0..<100)? = script.actions.last else {
            return #expect(Bool(false), "\(script.actions)")
        }
        script.digest(id, try #require(ours))
        #expect(script.request?.method == "GET" && script.request?.url == "ftp://h/in/f")
        script.answer(status, digest: isOurs ? ours : others)
        switch outcome {
        case 0: #expect(script.result?.status == 201)
        case 1: #expect(script.failure?.code == .mayHaveBeenSent)
        default: #expect(script.failure?.isTransient == true && script.failure?.code != .mayHaveBeenSent)
        }
    }
}
