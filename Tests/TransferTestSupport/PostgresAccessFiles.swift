internal import Foundation
internal import Glibc

/// The certificate of a PostgreSQL server, and the file of its access rules, in the places that the server expects.
struct PostgresAccessFiles {
    /// The rules for connections (PostgreSQL's manual, "The pg_hba.conf File").
    private static let rules = """
        local all all trust
        hostssl all guarded all scram-sha-256
        hostssl all all all trust

        """

    /// The settings that name the files.
    let settings: [String]

    /// - Parameter owner: The user of the server, who alone may read the key.
    init(in folder: String, certificate: ServerCertificate?, owner: passwd?) throws {
        guard let certificate else {
            settings = []
            return
        }
        let paths = ["chain.pem", "key.pem", "hba.conf"].map { "\(folder)/\($0)" }
        let texts = [
            try String(contentsOfFile: certificate.path, encoding: .utf8),
            try String(contentsOfFile: certificate.key, encoding: .utf8), Self.rules,
        ]
        for (path, text) in zip(paths, texts) {
            try text.write(toFile: path, atomically: true, encoding: .utf8)
            chmod(path, 0o600)
            if let owner { chown(path, owner.pw_uid, owner.pw_gid) }
        }
        settings = [
            "ssl=on", "ssl_cert_file=\(paths[0])", "ssl_key_file=\(paths[1])", "hba_file=\(paths[2])",
        ]
    }
}
