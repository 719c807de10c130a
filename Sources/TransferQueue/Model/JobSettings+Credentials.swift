extension JobSettings {
    /// The names of the credentials that the job's request needs.
    var credentialNames: [String] {
        var texts = headers.map(\.value)
        switch auth {
        case nil, .netrc(nil): break
        case .netrc(let user?): texts.append(user)
        case .bearer(let token): texts.append(token)
        case .basic(let user, let password): texts += [user, password]
        }
        if let credentials = proxy?.credentials { texts += [credentials.user, credentials.password] }
        if let passphrase = tls.keyPassphrase { texts.append(passphrase) }
        if let s3 { texts += [s3.accessKey, s3.secretKey, s3.sessionToken].compactMap { $0 } }
        if let passphrase = ssh?.keyPassphrase { texts.append(passphrase) }
        return texts.compactMap { text in
            if case .credential(let name) = text { name } else { nil }
        }
    }
}
