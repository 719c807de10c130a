import Foundation
import Glibc
import TransferTestServer
import TransferTestSupport

/// A server behind a relay that counts round trips, and the jobs to it.
struct RoundTripBench {
    let place: Workplace
    /// The job of a small file, by its number.
    let job: (Int) -> String
    let relays: [TurnRelay]
    /// The number of round trips that pass no relay.
    var others: () -> Int = { 0 }
    /// The servers, which end with their last reference.
    let servers: [AnyObject]

    /// Runs this number of jobs, one after the other.
    ///
    /// - Returns: The number of round trips of all of them.
    func run(_ count: Int) async throws -> Int {
        try place.jobs((1...count).map(job))
        let result = try await place.runJobs("-j", "1")
        guard result.exitCode == 0 else { throw TestSupportError("\(result)") }
        return relays.reduce(others()) { $0 + $1.counts.roundTrips }
    }

    // MARK: HTTP

    static func http(_ prepare: (TestServer) -> Void, _ job: @escaping (Int, String) -> String) throws -> Self {
        let server = try TestServer(prepare: prepare)
        let relay = try TurnRelay(to: server.port)
        return try Self(relays: [relay], servers: [server], job: { job($0, "http://127.0.0.1:\(relay.port)") })
    }

    init(
        relays: [TurnRelay], servers: [AnyObject], others: @escaping () -> Int = { 0 }, place: Workplace? = nil,
        job: @escaping (Int) -> String
    ) throws {
        self.place = try place ?? Workplace("trips")
        for number in 1...3 { try self.place.folder.write(count: 4096, seed: UInt64(number), to: "f\(number)") }
        (self.relays, self.servers, self.others, self.job) = (relays, servers, others, job)
    }

    static func get(_ server: TestServer) {
        for number in 1...3 { server.serve("/f\(number)", Content.random(seed: UInt64(number), count: 4096)) }
    }

    static func accept(_ server: TestServer) {
        server.handle(nil, "/in/*") { _ in
            var answer = Response(status: 201)
            answer.headers.add("ETag", "\"1\"")
            return answer
        }
    }

    /// Starts nginx, with TLS 1.3.
    static func tls(http2: Bool) async throws -> Self {
        let place = try Workplace("trips")
        var options = NginxServer.Options()
        options.certificate = try await ServerCertificate.make(in: place.folder)
        options.speaksHTTP2 = http2
        let server = try await NginxServer.start(options: options)
        for number in 1...3 {
            let bytes = Data(Content.random(seed: UInt64(number), count: 4096).bytes())
            try bytes.write(to: URL(fileURLWithPath: "\(server.root)/f\(number)"))
        }
        let relay = try TurnRelay(to: server.port)
        let ca = place.folder.path("certificate.pem")
        return try Self(
            relays: [relay], servers: [server], place: place,
            job: { number in
                download(
                    "https://127.0.0.1:\(relay.port)/f\(number)", to: "g\(number)", #""tls": {"ca": "\#(ca)"}"#)
            })
    }

    /// Starts nginx with WebDAV, which does not create folders automatically.
    static func webDAV() async throws -> Self {
        var options = NginxServer.Options()
        options.location = "dav_methods PUT DELETE MKCOL; client_max_body_size 0;"
        let server = try await NginxServer.start(options: options)
        let relay = try TurnRelay(to: server.port)
        return try Self(
            relays: [relay], servers: [server],
            job: { number in
                upload(
                    "f\(number)", to: "http://127.0.0.1:\(relay.port)/new/folder/f\(number)", #""createFolders": true"#)
            })
    }

    static func copy() throws -> Self {
        let (from, to) = (try TestServer(prepare: get), try TestServer(prepare: accept))
        let relays = [try TurnRelay(to: from.port), try TurnRelay(to: to.port)]
        return try Self(
            relays: relays, servers: [from, to],
            job: { number in
                download(
                    "http://127.0.0.1:\(relays[0].port)/f\(number)",
                    to: "http://127.0.0.1:\(relays[1].port)/in/f\(number)")
            })
    }

    static func s3() throws -> Self {
        let server = try TestServer(prepare: accept)
        let relay = try TurnRelay(to: server.port)
        let place = try Workplace("trips")
        try place.folder.write("secret", to: "secret")
        let access =
            #""endpoint": "http://127.0.0.1:\#(relay.port)", "accessKey": "a", "secretKey": {"file": "secret"}"#
        return try Self(
            relays: [relay], servers: [server], place: place,
            job: { number in
                upload("f\(number)", to: "s3://in/f\(number)", #""s3": {\#(access)}"#)
            })
    }

    // MARK: File servers

    static func ftp(sends: Bool, isSecure: Bool = false) async throws -> Self {
        let place = try Workplace("trips")
        let root = try TemporaryFolder("root")
        chmod(root.path, 0o755)
        chmod(try root.folder("in"), 0o777)
        for number in 1...3 { try root.write(count: 4096, seed: UInt64(number), to: "f\(number)") }
        let certificate = isSecure ? try await ServerCertificate.make(in: place.folder) : nil
        var options = FTPServer.Options.vsftpd(certificate)
        options.root = root.path
        let server = try await FTPServer.start(options)
        let relay = try TurnRelay(to: server.port)
        let ca = place.folder.path("certificate.pem")
        let members = isSecure ? #""ftp": {"requireTLS": true}, "tls": {"ca": "\#(ca)"}"# : ""
        let url = "ftp://127.0.0.1:\(relay.port)/"
        // A data connection is opened, and with TLS has its handshake. Its last bytes are acknowledged on the control
        // connection, or, from a server with TLS, follow the end of the handshake.
        func others() -> Int {
            let log = server.log()
            func count(_ command: String) -> Int { log.components(separatedBy: "\", \"\(command)").count - 1 }
            return count("EPSV") * (isSecure ? 2 : 1) + count("STOR") + (isSecure ? count("RETR") : 0)
        }
        return try Self(
            relays: [relay], servers: [server, root], others: others, place: place,
            job: { number in
                sends
                    ? upload("f\(number)", to: "\(url)in/f\(number)", members)
                    : download("\(url)f\(number)", to: "g\(number)", members)
            })
    }

    static func sftp(sends: Bool) async throws -> Self {
        let place = try Workplace("trips")
        let root = try TemporaryFolder("root")
        for number in 1...3 { try root.write(count: 4096, seed: UInt64(number), to: "f\(number)") }
        _ = try root.folder("in")
        let server = try await SSHServer.start()
        let relay = try TurnRelay(to: server.port)
        let key = try String(contentsOfFile: server.hostKey + ".pub", encoding: .utf8)
        try place.folder.write("[127.0.0.1]:\(relay.port) \(key)", to: "known_hosts")
        let known = place.folder.path("known_hosts")
        let members = #""ssh": {"knownHosts": "\#(known)", "key": "\#(server.userKey)", "agent": false}"#
        let url = "sftp://127.0.0.1:\(relay.port)\(root.path)/"
        return try Self(
            relays: [relay], servers: [server, root], place: place,
            job: { number in
                sends
                    ? upload("f\(number)", to: "\(url)in/f\(number)", members)
                    : download("\(url)f\(number)", to: "g\(number)", members)
            })
    }
}
