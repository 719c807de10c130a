/// The keys of a job file, version 1. A test holds them and `jobs/transfer-jobs.schema.json` together.
enum FileKey: String, CaseIterable {
    case schema = "$schema"
    case version, name, defaults, limits, jobs, watch

    static let table = KeyTable(allCases)
    /// Of the first line of a `.jsonl` file.
    static let headerTable = KeyTable(allCases.filter { $0 != .jobs })
}

enum LimitKey: String, CaseIterable {
    case concurrency, perHost, limitRate, requestRate

    static let table = KeyTable(allCases)
}

enum JobKey: String, CaseIterable {
    case id, download, upload, to, checksum, checksums, pieces, needs, priority, segments, ifExists, adopt, strict
    case `protocol`, method, body, headers, retry, connectTimeout, timeout, lowSpeed, maxTime, limitRate
    case proxy, noProxy, tls, auth, remoteTime, maxRedirects, network
    case s3, ssh, ftp, chunkSize, parallel, createFolders, inplace, ifChanged, success, metadata, fields, fileField, tus

    static let table = KeyTable(allCases)
    /// What a batch can set for all of its jobs.
    static let defaultsTable = KeyTable(allCases.filter { !$0.isOfOneJob })

    /// The bits that stand for keys in what ``JobDecoder/object(_:place:isSecret:_:)`` says of a job: worked out once for
    /// those that each job is asked for.
    static func mask(of keys: [JobKey]) -> UInt64 {
        keys.reduce(0) { $0 | 1 << UInt64(allCases.firstIndex(of: $1) ?? 63) }
    }

    private var isOfOneJob: Bool {
        switch self {
        case .id, .download, .upload, .to, .checksum, .pieces, .needs, .method, .body: true
        default: false
        }
    }
}

/// Of a file whose pieces have digests.
enum PiecesKey: String, CaseIterable {
    case length, digests

    static let table = KeyTable(allCases)
}

enum RetryKey: String, CaseIterable {
    case limit, base, scale, maxDelay, maxWait, jitter, statusCodes, methods

    static let table = KeyTable(allCases)
}

enum LowSpeedKey: String, CaseIterable {
    case rate, time

    static let table = KeyTable(allCases)
}

/// Of a proxy that asks who comes.
enum ProxyKey: String, CaseIterable {
    case url, user, password

    static let table = KeyTable(allCases)
}

enum TLSKey: String, CaseIterable {
    case ca, cert, key, keyPassphrase, pins

    static let table = KeyTable(allCases)
}

enum AuthKey: String, CaseIterable {
    case netrc, user, password, bearer

    static let table = KeyTable(allCases)
}

enum SecretKey: String, CaseIterable {
    case env, file, credential

    static let table = KeyTable(allCases)
}

/// Of a server that speaks as Amazon's S3 does.
enum S3Key: String, CaseIterable {
    case endpoint, region, style, profile, integrity, accessKey, secretKey, sessionToken

    static let table = KeyTable(allCases)
}

/// Of an SSH server.
enum SSHKey: String, CaseIterable {
    case user, knownHosts, hostKey, key, keyPassphrase, agent

    static let table = KeyTable(allCases)
}

/// Of an FTP server.
enum FTPKey: String, CaseIterable {
    case requireTLS, active

    static let table = KeyTable(allCases)
}

/// Extensions of tus.
enum TusKey: String, CaseIterable {
    case checksum, createWithUpload

    static let table = KeyTable(allCases)
}
