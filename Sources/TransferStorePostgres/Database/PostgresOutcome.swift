/// The result of a transaction, as its body leaves it.
package struct PostgresOutcome<Value> {
    /// The function that reads the result from the answers to the posted statements. It is called after the
    /// transaction's end, with which these answers come.
    let value: () throws -> Value
    /// The query for the result of a committed transaction whose answers were lost.
    let lookUp: (PostgresConnection) throws -> Value
    /// The check whether the rows are as the transaction leaves them, for a case where its number says nothing. It is
    /// `nil` where the rows cannot show that.
    let isThere: ((PostgresConnection) throws -> Bool)?

    package init(
        value: @escaping () throws -> Value, lookUp: @escaping (PostgresConnection) throws -> Value,
        isThere: ((PostgresConnection) throws -> Bool)? = nil
    ) {
        (self.value, self.lookUp, self.isThere) = (value, lookUp, isThere)
    }

    /// Makes a result that is known before the transaction's end.
    package init(_ value: Value, isThere: ((PostgresConnection) throws -> Bool)? = nil) {
        self.init(value: { value }, lookUp: { _ in value }, isThere: isThere)
    }
}
