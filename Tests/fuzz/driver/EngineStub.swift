// What protocols of uploads set of an exchange, which no fuzz target makes: in place of TransferEngine's own.

package struct ExchangeSettings {
    package var files: FileServerSettings?
    package var credentials = Credentials()

    package struct Credentials {
        package var login: String?

        package static func password(user: String, password: String) -> Credentials { Credentials(login: user) }
    }
}
