//! `#[derive(Pack)]`: encodes structs and enums field by field.

use proc_macro::TokenStream;
use quote::{format_ident, quote};
use syn::{Data, DeriveInput, Error, Fields, Member, Type, parse_macro_input, parse_quote};

/// Implements `Pack` for a struct or an enum whose fields implement it.
///
/// Fields are encoded one after the other; before those of an enum comes the number of the variant.
#[proc_macro_derive(Pack)]
pub fn derive_pack(input: TokenStream) -> TokenStream {
    let input = parse_macro_input!(input as DeriveInput);
    implementation(input).unwrap_or_else(Error::into_compile_error).into()
}

fn implementation(mut input: DeriveInput) -> syn::Result<proc_macro2::TokenStream> {
    for parameter in input.generics.type_params_mut() {
        parameter.bounds.push(parse_quote!(::pleach::Pack));
    }
    let name = &input.ident;
    let (least, pack, unpack) = match &input.data {
        Data::Struct(data) => {
            let (members, types) = parts(&data.fields);
            (
                quote!(0 #(+ <#types as ::pleach::Pack>::LEAST)*),
                quote!(#(::pleach::Pack::pack(&self.#members, out);)*),
                quote!(Self { #(#members: ::pleach::Pack::unpack(from)?),* }),
            )
        }
        Data::Enum(data) if !data.variants.is_empty() => {
            let (mut leasts, mut packs, mut unpacks) = (Vec::new(), Vec::new(), Vec::new());
            for (number, variant) in (0_u32..).zip(&data.variants) {
                let variant_name = &variant.ident;
                let (members, types) = parts(&variant.fields);
                let names: Vec<_> = (0..members.len()).map(|i| format_ident!("field{i}")).collect();
                leasts.push(quote!(0 #(+ <#types as ::pleach::Pack>::LEAST)*));
                packs.push(quote!(Self::#variant_name { #(#members: #names),* } => {
                    ::pleach::Pack::pack(&#number, out);
                    #(::pleach::Pack::pack(#names, out);)*
                }));
                unpacks.push(quote!(#number => Self::#variant_name {
                    #(#members: ::pleach::Pack::unpack(from)?),*
                }));
            }
            (
                quote!({
                    let mut least = usize::MAX;
                    #(if #leasts < least {
                        least = #leasts;
                    })*
                    least + <u32 as ::pleach::Pack>::LEAST
                }),
                quote!(match self { #(#packs)* }),
                quote!(match <u32 as ::pleach::Pack>::unpack(from)? {
                    #(#unpacks,)*
                    _ => return ::core::result::Result::Err(::pleach::Malformed::Range),
                }),
            )
        }
        Data::Enum(_) => return Err(Error::new_spanned(name, "expected at least one variant")),
        Data::Union(_) => return Err(Error::new_spanned(name, "expected a struct or an enum")),
    };
    let (generics, arguments, conditions) = input.generics.split_for_impl();
    Ok(quote! {
        #[automatically_derived]
        #[allow(unused_variables, clippy::identity_op)]
        impl #generics ::pleach::Pack for #name #arguments #conditions {
            const LEAST: usize = #least;
            fn pack(&self, out: &mut ::std::vec::Vec<u8>) {
                #pack
            }
            fn unpack(
                from: &mut ::pleach::Reader<'_>,
            ) -> ::core::result::Result<Self, ::pleach::Malformed> {
                ::core::result::Result::Ok(#unpack)
            }
        }
    })
}

/// The names or numbers of fields, and their types.
fn parts(fields: &Fields) -> (Vec<Member>, Vec<&Type>) {
    (fields.members().collect(), fields.iter().map(|field| &field.ty).collect())
}
