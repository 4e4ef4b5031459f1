package pricing

import (
	"math/big"
)

// Price is what a million tokens of a model cost, in US dollars. nil is unknown.
type Price struct {
	Input        *big.Rat
	CacheRead    *big.Rat // input that the provider had in its cache
	CacheWrite   *big.Rat // input that it put there, for five minutes or an unstated time
	CacheWrite1h *big.Rat // input that it put there for an hour
	Output       *big.Rat // reasoning included
}

const million = 1_000_000

// decimal reads an exact price. It is not ok if s is not a plain decimal number.
func decimal(s string) (*big.Rat, bool) {
	const longest = 40
	if s == "" || len(s) > longest {
		return nil, false
	}
	for i, c := range []byte(s) {
		if (c < '0' || c > '9') && (c != '.' || i == 0) {
			return nil, false
		}
	}
	return new(big.Rat).SetString(s)
}

// times multiplies a price by a factor; nil if the price is unknown.
func times(price *big.Rat, factor string) *big.Rat {
	f, ok := decimal(factor)
	if price == nil || !ok {
		return nil
	}
	return f.Mul(f, price)
}

// Dollars writes an amount as an exact decimal.
func Dollars(r *big.Rat) string {
	digits, _ := r.FloatPrec()
	return r.FloatString(digits)
}

// Of returns what this many tokens of plain input cost. The price must be known.
func (p *Price) Of(inputTokens int64) *big.Rat {
	n := new(big.Rat).SetFrac64(inputTokens, million)
	return n.Mul(n, p.Input)
}

// Rounded writes an amount for people: to the cent, a smaller one to two
// significant digits.
func Rounded(r *big.Rat) string {
	for digits := 2; digits < 9; digits++ {
		limit := new(big.Rat).SetFrac(big.NewInt(10), new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(digits)), nil))
		if r.Cmp(limit) >= 0 || r.Sign() == 0 {
			return r.FloatString(digits)
		}
	}
	return Dollars(r)
}
