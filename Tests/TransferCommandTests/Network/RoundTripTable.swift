import Testing
import TransferTestServer

/// The round trips of a file of 4 kB: of the first file, and of each further one over the same connection.
struct RoundTripRow: Sendable, CustomTestStringConvertible {
    let title: String
    let first: Int
    let further: Int
    /// The minimum that the protocol allows for a further file, and the reason.
    let least: Int
    let reason: String
    /// The numbers of other tools for a further file, measured by Benchmarks/turns.py with the versions that the
    /// article names.
    var curl = "–", rclone = "–", lftp = "–"
    /// Whether the server is installed.
    let isWanted: Bool
    let start: @Sendable () async throws -> RoundTripBench

    var testDescription: String { title }
    /// Whether the server sends tickets of TLS sessions.
    var hasTickets: Bool { ["GET, TLS 1.3", "GET, HTTP/2"].contains(title) }

    init(
        _ title: String, first: Int, further: Int, least: Int, _ reason: String, peers: [String] = [],
        isWanted: Bool = true,
        start: @escaping @Sendable () async throws -> RoundTripBench
    ) {
        (self.title, self.first, self.further, self.least, self.reason) = (title, first, further, least, reason)
        if peers.count == 3 { (curl, rclone, lftp) = (peers[0], peers[1], peers[2]) }
        (self.isWanted, self.start) = (isWanted, start)
    }

    var line: String {
        "| \(title) | \(first) | \(further) | \(least) | \(reason) | \(curl) | \(rclone) | \(lftp) |"
    }

    static let markdown =
        """
        | transfer | first | further | least | reason | curl | rclone | lftp |
        |---|---|---|---|---|---|---|---|

        """ + all.map { $0.line + "\n" }.joined()

    static let all: [RoundTripRow] = [
        RoundTripRow(
            "GET, HTTP/1.1", first: 2, further: 1, least: 1, "a request and its answer (RFC 9110 §3.4)",
            peers: ["1", "–", "–"]
        ) {
            try RoundTripBench.http(RoundTripBench.get) { download("\($1)/f\($0)", to: "g\($0)") }
        },
        RoundTripRow(
            "GET, TLS 1.3", first: 3, further: 1, least: 1, "the handshake takes one (RFC 8446 §2)",
            peers: ["1", "–", "–"]
        ) {
            try await RoundTripBench.tls(http2: false)
        },
        RoundTripRow(
            "GET, HTTP/2", first: 3, further: 1, least: 1, "the preface waits for nothing (RFC 9113 §3.4)",
            peers: ["1", "–", "–"]
        ) {
            try await RoundTripBench.tls(http2: true)
        },
        RoundTripRow(
            "PUT", first: 2, further: 1, least: 1, "the body follows its head (RFC 9110 §10.1.1)",
            peers: ["2", "–", "–"]
        ) {
            try RoundTripBench.http(RoundTripBench.accept) { upload("f\($0)", to: "\($1)/in/f\($0)") }
        },
        RoundTripRow("POST", first: 2, further: 1, least: 1, "as PUT") {
            try RoundTripBench.http(RoundTripBench.accept) {
                upload("f\($0)", to: "\($1)/in/f\($0)", #""protocol": "post""#)
            }
        },
        RoundTripRow(
            "WebDAV, two new folders", first: 7, further: 1, least: 1,
            "a file is refused where its folder is missing (RFC 4918 §9.7.1), and each folder is a MKCOL"
        ) {
            try await RoundTripBench.webDAV()
        },
        RoundTripRow(
            "tus", first: 3, further: 2, least: 1,
            "a creation and a PATCH (tus 1.0); in one request, a lost answer would leave in doubt what arrived"
        ) {
            try RoundTripBench.http({ _ = $0.serve("/files*", TusService(endpoint: "/files")) }) {
                upload("f\($0)", to: "\($1)/files", #""protocol": "tus""#)
            }
        },
        RoundTripRow(
            "S3, one request", first: 2, further: 1, least: 1, "PutObject", peers: ["–", "3", "–"]
        ) {
            try RoundTripBench.s3()
        },
        RoundTripRow(
            "copy, HTTP to HTTP", first: 4, further: 2, least: 2, "a GET and a PUT", peers: ["–", "–", "–"]
        ) {
            try RoundTripBench.copy()
        },
        RoundTripRow(
            "FTP, down", first: 9, further: 5, least: 3,
            "EPSV, the data connection, RETR (RFC 2428, RFC 959); MDTM and SIZE tell the version, and prove the length",
            peers: ["4", "4", "4"], isWanted: FileServerKind.isWanted
        ) {
            try await RoundTripBench.ftp(sends: false)
        },
        RoundTripRow(
            "FTP, up", first: 13, further: 7, least: 4,
            "EPSV, the data connection, STOR, its end; SIZE proves the length, RNFR and RNTO give the name",
            peers: ["4", "18", "6"], isWanted: FileServerKind.isWanted
        ) {
            try await RoundTripBench.ftp(sends: true)
        },
        RoundTripRow(
            "FTP with TLS, down", first: 16, further: 7, least: 5, "as FTP, and the handshake of the data connection",
            isWanted: FileServerKind.isWanted
        ) {
            try await RoundTripBench.ftp(sends: false, isSecure: true)
        },
        RoundTripRow(
            "FTP with TLS, up", first: 19, further: 8, least: 5, "as FTP, and the handshake of the data connection",
            isWanted: FileServerKind.isWanted
        ) {
            try await RoundTripBench.ftp(sends: true, isSecure: true)
        },
        RoundTripRow(
            "SFTP, down", first: 16, further: 5, least: 2,
            "OPEN and READ (filexfer-02 §6.3); libssh2 waits for STAT, FSTAT and CLOSE too",
            peers: ["4", "8", "3"], isWanted: FileServerKind.isWanted
        ) {
            try await RoundTripBench.sftp(sends: false)
        },
        RoundTripRow(
            "SFTP, up", first: 17, further: 4, least: 4, "OPEN, WRITE, CLOSE, and RENAME for the name",
            peers: ["3", "12", "3"], isWanted: FileServerKind.isWanted
        ) {
            try await RoundTripBench.sftp(sends: true)
        },
    ]
}
