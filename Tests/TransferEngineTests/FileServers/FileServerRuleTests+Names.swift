import Testing
import TransferCore

@testable import TransferEngine

extension FileServerRuleTests {
    // MARK: Names

    /// SFTP has no status for a name that is taken, so a look-up follows a refusal.
    @Test(arguments: [
        FileServerFailure.denied("Operation failed"),
        .error(TransferError(.badResponse, "Operation failed", isTransient: true)),
    ])
    func aRefusedMoveOfSFTPIsFollowedByALookUp(_ failure: FileServerFailure) throws {
        let destination = [HeaderField("Destination", "sftp://h/new")]
        var (dialogue, first) = try dialogue("MOVE", destination, url: "sftp://h/old")
        #expect(first == .rename(to: try url("sftp://h/new")))
        #expect(head(dialogue.ended(.done(RemoteFile()), sent: 0, madeFolder: false))?.status == 201)
        for (look, status) in [(Dialogue.Result.done(Self.file), 409), (.failed(.missing("")), 403)] {
            (dialogue, _) = try self.dialogue("MOVE", destination, url: "sftp://h/old")
            #expect(
                step(dialogue.ended(.failed(failure), sent: 0, madeFolder: false)) == .look(try url("sftp://h/new")))
            let action = dialogue.ended(look, sent: 0, madeFolder: false)
            #expect(head(action)?.status == status || status == 403 && error(action)?.code == .badResponse)
        }
    }

    @Test func aMoveReplacesUnlessItMayNot() throws {
        let ftp = [HeaderField("Destination", "ftp://h/new")]
        var (_, first) = try dialogue("MOVE", ftp, url: "ftp://h/old")
        #expect(first == .rename(to: try url("ftp://h/new")))
        (_, first) = try self.dialogue("MOVE", ftp + [HeaderField("Overwrite", "F")], url: "ftp://h/old")
        #expect(first == .look(try url("ftp://h/new")))
    }

    /// Only a denial says that the account lacks the permission.
    @Test(arguments: [
        (FileServerFailure.missing("550 no such file"), "MOVE, DELETE"), (.denied("550 Permission denied"), ""),
        (.error(TransferError(.badResponse, "502 not known", isTransient: false)), "MOVE, DELETE"),
    ])
    func aProbeListsThePermittedOperations(_ failure: FileServerFailure, _ methods: String) throws {
        let other = [HeaderField("Destination", "sftp://h/y")]
        var (dialogue, first) = try dialogue("OPTIONS", other, url: "sftp://h/x")
        #expect(first == .rename(to: try url("sftp://h/y")))
        #expect(step(dialogue.ended(.failed(failure), sent: 0, madeFolder: false)) == .delete)
        let answer = head(dialogue.ended(.failed(failure), sent: 0, madeFolder: false))
        #expect(answer?.value("Allow") == "HEAD, GET, PUT" + (methods.isEmpty ? "" : ", " + methods))
        // FTP's pair of rename commands is sent together.
        let ftp = [HeaderField("Destination", "ftp://h/y")]
        (dialogue, first) = try self.dialogue("OPTIONS", ftp, url: "ftp://h/x")
        #expect(first == .probe)
        let allowed = head(dialogue.ended(.allowed(rename: true, delete: false), sent: 0, madeFolder: false))
        #expect(allowed?.value("Allow") == "HEAD, GET, PUT, MOVE")
        (dialogue, _) = try self.dialogue("OPTIONS", ftp, url: "ftp://h/x")
        let lost = TransferError(.connectionLost, "lost", isTransient: true)
        #expect(error(dialogue.ended(.failed(.error(lost)), sent: 0, madeFolder: false))?.code == .connectionLost)
    }

    @Test func aFolderIsMadeOnce() throws {
        var (dialogue, first) = try dialogue("MKCOL", url: "ftp://h/a/")
        #expect(first == .makeFolder)
        #expect(head(dialogue.ended(.done(RemoteFile()), sent: 0, madeFolder: true))?.status == 201)
        (dialogue, _) = try self.dialogue("MKCOL", url: "ftp://h/a/")
        #expect(head(dialogue.ended(.done(RemoteFile()), sent: 0, madeFolder: false))?.status == 405)
        (dialogue, first) = try self.dialogue("MKCOL", url: "sftp://h/a")
        #expect(first == .look(try url("sftp://h/a")))
        #expect(step(dialogue.ended(.failed(.missing("")), sent: 0, madeFolder: false)) == .makeFolder)
    }

    @Test(
        arguments: [
            ("POST", "ftp://h/x", []), ("GET", "ftp://h/x/", []), ("HEAD", "ftp://h", []), ("PUT", "sftp://h/x/", []),
            ("PATCH", "ftp://h/x", []), ("PATCH", "ftp://h/x", [HeaderField("Upload-Offset", "-1")]),
            ("MOVE", "ftp://h/x", []), ("MOVE", "ftp://h/x", [HeaderField("Destination", "ftp://other/x")]),
            ("MOVE", "ftp://h/x", [HeaderField("Destination", "sftp://h/x")]), ("DELETE", "ftp://h/", []),
        ] as [(String, String, [HeaderField])])
    func aMalformedRequestIsRefused(_ method: String, _ url: String, _ headers: [HeaderField]) {
        #expect(throws: TransferError.self) { try dialogue(method, headers, url: url) }
    }

    // MARK: Replies

    @Test func theLastLineOfAReplyCounts() {
        var replies = FTPReplies()
        for line in ["230-Welcome", "230-550 no", " 550 no", "230 in\r\n", "Content-Length: 5\r\n", "99"] {
            replies.received(Array(line.utf8))
        }
        #expect(replies.last?.code == 230 && replies.last?.description == "230 in" && !replies.hasRefusals)
        replies.received(Array("550".utf8))
        #expect(replies.last?.description == "550" && replies.hasRefusals)
    }

    @Test(arguments: [
        ("550 No such file or directory.", false, FileServerFailure.missing("550 No such file or directory.")),
        ("550 Permission denied.", false, .denied("550 Permission denied.")),
        ("550 Failed to open file.", false, .missing("550 Failed to open file.")),
        ("550 Failed.", true, .denied("550 Failed.")),
        ("553 Could not create file.", false, .denied("553 Could not create file.")),
        ("550 File exists.", true, .exists("550 File exists.")),
        ("550 File does not exist.", true, .missing("550 File does not exist.")),
        ("552 Quota", true, .full("552 Quota")),
        // ProFTPD without AllowStoreRestart, which is its default.
        (
            "451 x: Append/Restart not permitted, try again", true,
            .denied("451 x: Append/Restart not permitted, try again")
        ),
    ])
    func aReplyIsMappedToAFailure(_ line: String, _ writes: Bool, _ expected: FileServerFailure) throws {
        var replies = FTPReplies()
        replies.received(Array(line.utf8))
        let reply = try #require(replies.last)
        #expect(FileServerFailure(reply, writes: writes, host: "h") == expected)
    }

    /// A server may refuse SIZE for an existing file. If it refuses MDTM too, the file is probably missing.
    @Test(
        arguments: [
            ("550 SIZE not allowed in ASCII mode.", 1, FileServerFailure.denied("550 SIZE not allowed in ASCII mode.")),
            ("550 Could not get file size.", 1, .ambiguous("550 Could not get file size.")),
            ("550 Could not get file size.", 2, .missing("550 Could not get file size.")),
            ("550 No such file", 1, .missing("550 No such file")), ("500 what", 1, nil),
        ] as [(String, Int, FileServerFailure?)])
    func aRefusedLookUpIsMappedToAFailure(_ line: String, _ denials: Int, _ expected: FileServerFailure?) throws {
        var replies = FTPReplies()
        replies.received(Array(line.utf8))
        #expect(FileServerFailure.look(try #require(replies.last), denials: denials) == expected)
    }

    @Test(arguments: [
        ("Sorry, the maximum number of clients (2) from your host are already connected.", true),
        ("Too many connections from your IP address", true), ("Too many users - please try again later.", true),
        ("10 users (the maximum) are already logged in, sorry", true), ("Login limit reached for this user", true),
        ("Login incorrect.", false), ("Not logged in, user or password incorrect!", false),
        ("Maximum login attempts exceeded.", false), ("Too many failed logins.", false), ("", false),
    ])
    func tooManyConnectionsDifferFromARefusedLogin(_ words: String, _ isCrowd: Bool) {
        #expect(FileServerFailure.isCrowd(words) == isCrowd)
    }

    @Test func otherRepliesAreErrorsThatLastOrPass() throws {
        for (line, isTransient) in [
            ("425 no data connection", true), ("451 x: try again", true), ("452 no space left", true),
            ("522 use TLS", false), ("500 what", false),
        ] {
            var replies = FTPReplies()
            replies.received(Array(line.utf8))
            let reply = try #require(replies.last)
            guard case .error(let error) = FileServerFailure(reply, writes: false, host: "h") else {
                throw TestFailure()
            }
            #expect(error.isTransient == isTransient && error.message == "h answered \(line)")
        }
    }

    @Test func aRefusedHostKeySaysWhatToDo() throws {
        let origin = try url("sftp://h:2222/").origin
        let unknown = SSHHostKey(fault: .unknown, type: "ED25519", fingerprint: "SHA256:x").error(origin, files: ["/k"])
        #expect(unknown.code == .hostKeyRefused && !unknown.isTransient)
        #expect(
            unknown.message.contains("ED25519, SHA256:x") && unknown.message.contains("ssh-keyscan -p 2222 h >> /k"))
        let changed = SSHHostKey(fault: .changed, type: nil, fingerprint: nil).error(origin, files: ["/k"])
        #expect(changed.message.contains("ssh-keygen -f /k -R '[h]:2222'"))
        #expect(SSHHostKey.noRule(origin).message.contains("ssh-keyscan -p 2222 h"))
    }

    @Test func secretsStayOutOfDescriptionsAndAccountsApart() {
        let key = FileServerSettings.PrivateKey(path: "/k", passphrase: "hush")
        #expect(!"\(key)".contains("hush") && !"\(key)".isEmpty)
        var (left, right) = (ExchangeSettings(), ExchangeSettings())
        #expect(FileServerAccount(left) == FileServerAccount(right))
        right.files.createsFolders = true
        #expect(FileServerAccount(left) == FileServerAccount(right))
        right.files.knownHosts = "/k"
        #expect(FileServerAccount(left) != FileServerAccount(right))
        left.files.knownHosts = "/k"
        left.credentials = .password(user: "a", password: "b")
        #expect(FileServerAccount(left) != FileServerAccount(right))
    }
}
