/// The conversion of a job's rules for use from any folder: every path in them becomes absolute.
package struct AbsolutePaths: Sendable {
    private let folder: String

    /// Creates a conversion.
    ///
    /// - Parameter folder: The folder to which relative paths refer.
    package init(from folder: String) { self.folder = folder }

    package func settings(_ old: JobSettings) -> JobSettings {
        var settings = old
        absolute(&settings.tls.ca)
        absolute(&settings.tls.cert)
        absolute(&settings.tls.key)
        absolute(&settings.tls.keyPassphrase)
        absolute(&settings.http.cookies)
        if var ssh = settings.ssh {
            absolute(&ssh.config)
            absolute(&ssh.knownHosts)
            absolute(&ssh.key)
            absolute(&ssh.keyPassphrase)
            settings.ssh = ssh
        }
        if var s3 = settings.s3 {
            absolute(&s3.accessKey)
            absolute(&s3.secretKey)
            absolute(&s3.sessionToken)
            settings.s3 = s3
        }
        for index in settings.headers.indices { absolute(&settings.headers[index].value) }
        if var credentials = settings.proxy?.credentials {
            absolute(&credentials.user)
            absolute(&credentials.password)
            settings.proxy?.credentials = credentials
        }
        switch settings.auth {
        case nil: break
        case .netrc(var user, var file):
            absolute(&user)
            absolute(&file)
            settings.auth = .netrc(user: user, file: file)
        case .bearer(var token):
            absolute(&token)
            settings.auth = .bearer(token)
        case .basic(var user, var password):
            absolute(&user)
            absolute(&password)
            settings.auth = .basic(user: user, password: password)
        }
        return settings
    }

    private func absolute(_ path: inout String?) {
        if let old = path { path = absolute(old) }
    }

    private func absolute(_ secret: inout SecretText) {
        if case .file(let old) = secret { secret = .file(absolute(old)) }
    }

    private func absolute(_ secret: inout SecretText?) {
        guard var text = secret else { return }
        absolute(&text)
        secret = text
    }

    package func absolute(_ path: String) -> String {
        path.hasPrefix("/") ? path : folder + "/" + path.trimmingPrefix("./")
    }
}
